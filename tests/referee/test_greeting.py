"""A bot is started once before a run: greeted, or refused by name with the cause and the cure."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from arena.errors import BotFault, BotRefused
from arena.referee.greeting import check_fits, greet, plays_ruleset
from arena.rules.ruleset import Side
from arena.sandbox.limits import default_limits
from protocol.errors import RemoteProtocolError
from protocol.messages import HelloAnswer
from tests.referee.games import FAULTY, Brain, FakeChannel, FakePool, Footprint, bot, honest, marked

LIMITS = default_limits()


def hello(**changes: Any) -> HelloAnswer:
    """What a bot says of itself."""
    said = HelloAnswer(id="1", protocol=1, name="bot", rulesets=("london-2013",))
    return replace(said, **changes)


@pytest.mark.parametrize(
    ("rulesets", "text", "plays"),
    [
        (("london-2013",), "london-2013", True),
        (("london-2013",), "london-2013:players=2", True),
        (("london-2013:players=2",), "london-2013:players=2", True),
        (("london-2013:players=2",), "london-2013", False),
        (("london-classic",), "london-2013", False),
    ],
)
def test_name_alone_stands_for_every_option(
    rulesets: tuple[str, ...], text: str, plays: bool
) -> None:
    assert plays_ruleset(hello(rulesets=rulesets), text) is plays


@pytest.mark.parametrize(
    ("changes", "nodes", "text", "hint"),
    [
        ({"protocol": 2}, False, "the bot speaks 2, this arena 1", "protocol 1"),
        ({"sides": ("detectives",)}, False, "plays detectives only", "`sides`"),
        ({"rulesets": ("go",)}, False, "plays go, and is to play london-2013", "`rulesets`"),
        ({}, True, "does not count them", "`features`"),
    ],
    ids=["protocol", "side", "ruleset", "nodes"],
)
def test_bot_that_does_not_fit_is_told_what_to_say(
    changes: dict[str, Any], nodes: bool, text: str, hint: str
) -> None:
    with pytest.raises(BotFault, match=text) as caught:
        check_fits(hello(**changes), side=Side.MISTER_X, ruleset="london-2013", nodes=nodes)
    assert caught.value.kind == "refused"
    assert hint in caught.value.hint


def test_bot_that_fits_is_let_through() -> None:
    check_fits(
        hello(features=("nodes",)), side=Side.MISTER_X, ruleset="london-2013:players=2", nodes=True
    )


def greeted(*command: str, folder: Path = FAULTY, mark: str, **settings: Any) -> HelloAnswer:
    """Greet a real bot, and see that nothing is left of it."""
    mark = marked(mark)
    footprint = Footprint(mark)

    async def main() -> HelloAnswer:
        given: dict[str, Any] = {"rulesets": ("london-2013",), "limits": LIMITS, **settings}
        name = given.pop("name", "")
        return await greet(bot(name, *command, mark, folder=str(folder)), **given)

    try:
        return trio.run(main)
    finally:
        footprint.check()


def greeted_fake(brain: Brain, **settings: Any) -> tuple[HelloAnswer, FakeChannel]:
    """Greet a function."""
    given: dict[str, Any] = {"rulesets": ("london-2013",), "limits": LIMITS, **settings}

    async def main() -> tuple[HelloAnswer, FakeChannel] | BotRefused:
        async with FakePool({"bot": brain}) as pool:
            try:
                return await greet(bot("bot"), pool=pool, **given), pool.channels[0]
            except BotRefused as exc:  # not through the nursery, which would wrap it
                return exc
            finally:
                assert [channel.ended for channel in pool.channels] == [True]

    found = trio.run(main)
    if isinstance(found, BotRefused):
        raise found
    return found


def test_greeting_says_hello_and_bye_and_ends_the_bot() -> None:
    said, channel = greeted_fake(honest, nodes=True)
    assert said.name == "fake"
    assert [asked["type"] for asked in channel.asked] == ["hello"]
    assert channel.asked[0]["rulesets"] == ["london-2013"]
    assert channel.told == [{"type": "bye"}]


def test_greeting_needs_one_ruleset_that_the_bot_plays() -> None:
    rulesets = ("london-classic", "london-2013:players=2")
    assert greeted_fake(honest, rulesets=rulesets)[0].name == "fake"
    with pytest.raises(BotRefused, match=r"^bot: the bot plays london-2013, and is to play london"):
        greeted_fake(honest, rulesets=("london-classic",))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            BotFault("crash", "it ended with status 1", "read its error"),
            r"^bot: it ended with status 1\. Read its error\.\n    its last words$",
        ),
        (BotFault("crash", "it ended"), r"^bot: it ended\. Read the bot's standard error"),
        (RemoteProtocolError("nonsense"), r"^bot: nonsense\. Compare the line with"),
    ],
    ids=["hint", "no hint", "protocol"],
)
def test_failed_greeting_refuses_with_cause_cure_and_last_words(
    error: Exception, text: str
) -> None:
    with pytest.raises(BotRefused, match=text):
        greeted_fake(lambda _: error)


@pytest.mark.slow
def test_honest_bot_is_greeted() -> None:
    said = greeted(sys.executable, "./speaking.py", "", mark="greet-honest")
    assert said.name == "bot"
    assert said.wants == ("legal",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "text"),
    [
        ("start-exit", r"^mybot: .*status 1.*\n    no book of openings$"),
        ("start-protocol", "no common protocol: the bot speaks 2"),
        ("start-rulesets", "plays europe-2024, and is to play london-2013"),
    ],
)
def test_bot_that_cannot_be_greeted_is_refused_with_its_last_words(row: str, text: str) -> None:
    with pytest.raises(BotRefused, match=text) as caught:
        greeted(sys.executable, "./lives.py", row, mark=f"greet-{row}", name="mybot")
    assert str(FAULTY) not in str(caught.value).partition("\n")[0]


@pytest.mark.slow
def test_silent_bot_is_refused_at_the_limit_of_the_start() -> None:
    limits = replace(LIMITS, first_ready_ms=500)
    with pytest.raises(BotRefused, match=r"not ready within 500 ms of its start.*every request\?$"):
        greeted(sys.executable, "./lives.py", "start-silent", mark="greet-mute", limits=limits)


@pytest.mark.slow
def test_bot_without_nodes_is_refused_for_a_run_on_nodes() -> None:
    with pytest.raises(BotRefused, match="does not count them"):
        greeted(sys.executable, "./lives.py", "start-nodes", mark="greet-nodes", nodes=True)


def test_program_that_cannot_start_is_refused_by_its_name(tmp_path: Path) -> None:
    """C4: as `startable` tells it, with the bot's name before it."""
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    with pytest.raises(BotRefused, match=r"^bot: the program 'bot' is missing; is it built"):
        greeted("./bot", folder=tmp_path, mark="greet-missing")
    assert len(os.listdir("/proc/self/fd")) == len(before)  # noqa: PTH208
