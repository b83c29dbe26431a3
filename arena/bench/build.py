"""Builds the two C programs that measurements need, with the machine's own compiler."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import as_file, files
from pathlib import Path

from arena.errors import ConfigError

__all__ = ["build_programs"]


def build_programs(into: Path) -> tuple[Path, Path]:
    """Compile the stub bot and the echo of the bare round trip into a folder.

    Returns:
        The paths of `stub` and `echo`.

    Raises:
        ConfigError: if this machine has no C compiler, or it fails.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise ConfigError(
            "`arena bench` measures with bots of C speed and found no C compiler (cc, gcc, clang) "
            "on the PATH: install one, for example the package `gcc`."
        )
    into.chmod(0o755)  # in the sandbox a bot is another user
    built = []
    for name in ("stub", "echo"):
        target = into / name
        with as_file(files("arena.bench").joinpath(f"{name}.c")) as source:
            done = subprocess.run(
                [compiler, "-O2", "-o", str(target), str(source)],
                check=False,
                capture_output=True,
                text=True,
                timeout=60,
            )
        if done.returncode != 0:
            raise ConfigError(f"{compiler} could not build {name}.c: {done.stderr.strip()[:500]}")
        built.append(target)
    return built[0], built[1]
