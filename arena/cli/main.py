"""The click group: logging, exit codes, how errors are shown.

Commands are loaded when they are called: `arena --help` reads the table below and imports none of
them, so it answers at once.
"""

from __future__ import annotations

import importlib
import os
import platform
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

import arena
from arena.cli.exits import Exit, exit_for
from arena.cli.options import settings_options
from arena.cli.streams import STDOUT, make_ready
from arena.cli.talk import Settings, folded, visible
from arena.errors import ArenaError, ConfigError, Interrupted, Unread, cannot_write, worst_of
from arena.sandbox.aftermath import may_be_killed

__all__ = ["COMMANDS", "Arena", "cli", "main"]

COMMANDS = {
    "run": "Play a tournament, store it, write its report.",
    "resume": "Play the missing games of a run.",
    "plan": "Say what a run would play, cost and be able to see.",
    "games": "List the games of a run.",
    "play": "Play one game.",
    "rerun": "Feed a recorded game to a bot again, up to its first other answer.",
    "replay": "Write a game as one page: the map, ply by ply.",
    "verify": "Replay records against the rules and search them for leaks.",
    "report": "Write the report of a run again.",
    "rate": "Rate any results: Elo with intervals.",
    "sprt": "Test a gap of two bots on counts of game pairs.",
    "export": "Write the games of a run as CSV, JSON lines or Parquet.",
    "bots": "List the reference bots, or look at the bots named.",
    "rulesets": "List the rulesets and their options.",
    "limits": "Print what a bot is held to.",
    "protocol": "Print the wire's text, or its JSON Schema.",
    "config": "Check a tournament file, or print its JSON Schema.",
    "doctor": "Say what this machine can hold bots to, and what not.",
    "bench": "Measure how fast this machine plays.",
}

MODULES = {"config": "check_config"}  # where a command's module is not named like it
STARTS_BOTS = frozenset({"run", "resume", "plan", "play", "rerun", "bots", "doctor", "bench"})

EPILOG = """\b
First steps:  arena run                    the reference bots of London, small
              arena play random belief     one game
Completion:   eval "$(_ARENA_COMPLETE=bash_source arena)"
              (for zsh zsh_source, for fish fish_source)
"""


class Arena(click.Group):
    """The group of all commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module; None for a name that is none."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in STARTS_BOTS and platform.system() != "Linux":
            return without_bots(cmd_name)
        module = importlib.import_module(f"arena.cli.{MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table, importing none."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a mistyped one is answered with the nearest name."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            meant = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"There is no command '{name}'.{meant}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; click would end the process with 1, and no word, at any closed pipe.

        Stdout never raises that (`Results`), so it is a pipe of ours that broke.
        """
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            show_bug(error, ctx.ensure_object(Settings))
            return Exit.OURS

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,
    ) -> Any:
        """Run the command line and end the process with one of the codes of `Exit`."""
        settings = Settings()
        extra["standalone_mode"] = False
        extra.setdefault("obj", settings)
        sys.exit(self.ending(args, prog_name or "arena", extra, settings))

    def ending(
        self,
        args: Sequence[str] | None,
        prog_name: str,
        extra: dict[str, Any],
        settings: Settings,
    ) -> int:
        """Run the command line; return its exit code, every error already shown."""
        try:
            code = super().main(args, prog_name, **extra)
            sys.stdout.flush()
        except (click.Abort, KeyboardInterrupt):
            return say_stopped()
        except BaseExceptionGroup as group:
            error = worst_of(group)
            if isinstance(error, KeyboardInterrupt):
                return say_stopped()
            if isinstance(error, ArenaError):
                return tell(error, settings)
            show_bug(group, settings)
            return Exit.OURS
        except click.ClickException as error:
            error.show()
            return Exit.USAGE
        except ArenaError as error:
            return tell(error, settings)
        except OSError as error:
            if error.filename != STDOUT:
                show_bug(error, settings)
                return Exit.OURS
            refused = cannot_write("stdout can't be written", error)
            drop_output()
            show(str(refused), settings)
            return exit_for(refused)
        except Exception as error:  # noqa: BLE001 - the one place that turns a bug into words
            show_bug(error, settings)
            return Exit.OURS
        return code if isinstance(code, int) else Exit.DONE


def say_stopped() -> int:
    """Say that somebody wished the end, which is no error; return its exit code."""
    click.echo("Stopped.", err=True)
    return Exit.STOPPED


def tell(error: BaseException, settings: Settings) -> int:
    """Print an error of ours in its own words; return its exit code."""
    assert isinstance(error, ArenaError)  # noqa: S101 - both callers look first
    if settings.verbose:
        traceback.print_exception(error)
    if isinstance(error, Interrupted):
        click.echo(folded(visible(str(error))), err=True)  # somebody's wish, no error
    elif not isinstance(error, Unread):
        show(str(error), settings)
    return exit_for(error)


def drop_output() -> None:
    """Point stdout at nothing, so that what is left to flush can't fail again on the way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show(text: str, settings: Settings) -> None:
    """Print an error as one plain sentence, without a traceback."""
    head = "error: "
    text = folded(head + visible(text)).removeprefix(head)
    if settings.color and not os.environ.get("NO_COLOR") and sys.stderr.isatty():
        head = click.style(head, fg="red", bold=True)
    click.echo(head + text, err=True)


def show_bug(error: BaseException, settings: Settings) -> None:
    """Print an error that nobody expected: what it is, and how to see where it came from."""
    if settings.verbose:
        traceback.print_exception(error)
    one = worst_of(error) if isinstance(error, BaseExceptionGroup) else error
    what = f"{type(one).__name__}: {one}".strip().splitlines()
    show(f"the arena itself failed: {what[0] if what else type(one).__name__}", settings)
    if not settings.verbose:
        click.echo("This is a bug. Run the same command with -v to see the traceback.", err=True)


def without_bots(name: str) -> click.Command:
    """Return what stands for a command that starts bots on a system that can't."""

    @click.command(
        name,
        help=f"{COMMANDS[name]} Not on this system.",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    @click.argument("_words", nargs=-1, type=click.UNPROCESSED)
    def command(_words: tuple[str, ...]) -> int:
        from arena.sandbox.refusals import no_linux

        refusal = no_linux(platform.system(), platform.machine())
        text = refusal.text() if refusal is not None else ""
        if name == "doctor":  # it was asked, and the answer is no
            click.echo(text)
            return Exit.NO
        raise ConfigError(text)

    return command


@click.group(
    cls=Arena,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=False,
)
@click.version_option(arena.__version__, prog_name="arena")
@settings_options
def cli() -> None:
    """Tournaments of bots at Scotland Yard and its sequels.

    A BOT is the name of a reference bot (see `arena bots`), a folder with bot.toml, an executable
    or script file, or a quoted command line.
    """


def take_sigterm_as_ctrl_c() -> None:
    """Stop as at a Ctrl-C when the system wishes it, so that no folder of ours is left behind."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it would be ignored
        signal.signal(signal.SIGTERM, lambda _number, _frame: signal.raise_signal(signal.SIGINT))


def main() -> None:
    """Run the command line of this process (the entry point `arena`)."""
    try:
        make_ready()
        may_be_killed()
        take_sigterm_as_ctrl_c()
        cli()
    except KeyboardInterrupt:  # before there is anything to stop
        sys.exit(say_stopped())
    finally:  # all is said and done: a late Ctrl-C must not take the exit code's place
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if __name__ == "__main__":
    main()
