"""Builds the two C programs that measurements need, with the machine's own compiler."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import as_file, files
from pathlib import Path

from arena.errors import ConfigError

__all__ = ["build_programs"]

_LIMIT_S = 60.0  # each takes a second


def build_programs(into: Path) -> tuple[Path, Path]:
    """Compile the stub bot and the echo of the bare round trip into a folder.

    Returns:
        The paths of `stub` and `echo`.

    Raises:
        ConfigError: if this machine has no C compiler, or it fails, or takes longer than a minute.
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
            why = _trouble([compiler, "-O2", "-o", str(target), str(source)])
        if why is not None:
            raise ConfigError(f"{compiler} could not build {name}.c: {why}")
        built.append(target)
    return built[0], built[1]


def _trouble(command: list[str]) -> str | None:
    """Run a compiler; return what it complains of, None where it has done its work."""
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=_LIMIT_S
        )
    except OSError as error:
        return f"{error.strerror}"
    except subprocess.TimeoutExpired:
        return f"it took longer than {_LIMIT_S:g} s"
    if done.returncode == 0:
        return None
    return done.stderr.strip()[:500] or f"it ended with status {done.returncode}"
