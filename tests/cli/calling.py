"""One way to call the command line in this process."""

from __future__ import annotations

import json
import signal
from typing import Any

import click.testing

from arena.cli.main import cli


class Called:
    """What a command printed, and its exit code."""

    def __init__(self, result: click.testing.Result) -> None:
        self.code = result.exit_code
        self.stdout = result.stdout
        self.stderr = result.stderr

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout."""
        answer: dict[str, Any] = json.loads(self.stdout)
        return answer


class Caller:
    """Calls `arena` with arguments; nobody looks, so there are no colours."""

    def __call__(self, *args: object, env: dict[str, str] | None = None) -> Called:
        runner = click.testing.CliRunner(env=env)
        before = signal.getsignal(signal.SIGINT)
        try:
            return Called(runner.invoke(cli, [str(arg) for arg in args], prog_name="arena"))
        finally:  # a command may ignore it from its last word on: its process ends there
            signal.signal(signal.SIGINT, before)
