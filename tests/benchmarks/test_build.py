"""A compiler that does not compile is told with its place, whatever is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.bench import build
from arena.bench.build import build_programs
from arena.errors import ConfigError


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("#!/bin/sh\necho no room on the disk >&2\nexit 1\n", "stub.c: no room on the disk"),
        ("#!/nowhere/sh\n", "stub.c: No such file or directory"),
        ("#!/bin/sh\nexec sleep 30\n", "stub.c: it took longer than "),
    ],
)
def test_a_compiler_that_fails_is_told_by_its_path(
    script: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(script)
    compiler.chmod(0o755)
    if "sleep" in script:
        monkeypatch.setattr(build, "_LIMIT_S", 0.2)
    monkeypatch.setattr("shutil.which", lambda _name: str(compiler))
    with pytest.raises(ConfigError) as caught:
        build_programs(tmp_path)
    assert str(caught.value).startswith(f"{compiler} could not build {says}")


def test_without_a_compiler_its_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(ConfigError, match=r"no C compiler .* the package `gcc`"):
        build_programs(tmp_path)
