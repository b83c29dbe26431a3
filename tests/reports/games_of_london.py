"""Whole games of London for the tests of replays: played by fakes, then dressed in hostile text."""

from __future__ import annotations

from typing import Any

import msgspec
import trio

from arena.referee.record import BotName, GameRecord, SeatAside
from tests.referee.games import Brain, Request, honest, honest_play, line, play_fakes

__all__ = ["HOSTILE", "crashing", "dressed", "played", "showing_off"]

HOSTILE = (
    '</script><script>document.title="owned"</script>',
    '" onmouseover="document.title=1" x="',
    "<!--<script>",
    "</title><svg onload=document.title=1>",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe\a\x1b[2J",
)
DOUBLES = (2, 5)  # rounds


def showing_off(request: Request) -> bytes:
    """A fake bot with notes that as Mister X plays black tickets and, there and back, doubles."""
    if request["type"] != "turn":
        return honest(request)
    answer = honest_play(request)
    view, legal = request["view"], request["legal"]
    if legal and legal[0]["figure"] == "x":
        blacks = [ply for ply in legal if ply["ticket"] == "black"]
        answer["plies"] = blacks[-1:] if blacks and view["round"] % 3 == 0 else legal[:1]
        if view["round"] in DOUBLES and view["doubles"]:
            answer["plies"] = [legal[0], {**legal[0], "to": view["station"]}]
    answer["note"] = {"round": view["round"], "text": "thinking <b>hard</b>"}
    return line(**answer)


def crashing(request: Request) -> bytes:
    """A fake bot that says nonsense in its third turn."""
    if request["type"] == "turn" and request["view"]["round"] == 3:
        return b"</script> nonsense\n"
    return honest(request)


def played(x: Brain = showing_off, d: Brain = showing_off, **settings: Any) -> GameRecord:
    """A game of fakes."""

    async def play() -> GameRecord:
        return (await play_fakes(x, d, **settings))[0]

    return trio.run(play)


def dressed(record: GameRecord, text: str, *, much: bool = False) -> GameRecord:
    """The record with a stranger's text wherever one may write some, or as much as is kept."""
    written = len(msgspec.json.encode(text)) - 2

    def seat(old: SeatAside) -> SeatAside:
        return msgspec.structs.replace(
            old,
            stderr=text * (64_000 // written if much else 1),
            log=(text,) * (2_000 if much else 2),
            fault_text=text,
            hint=text,
        )

    name = BotName(name=text, version=text, hash="0" * 64)
    core = msgspec.structs.replace(record.core, mister_x=name, detectives=name)
    sides = {play: record.core.plays[play].side for play in record.notes}
    note = text * (1_000 // written) if much else text
    notes: dict[int, Any] = {}
    for side in ("mister_x", "detectives"):
        own = [play for play, of in sides.items() if of == side]
        notes |= dict.fromkeys(own[:15] if much else own, note)
    aside = msgspec.structs.replace(
        record.aside,
        mister_x=seat(record.aside.mister_x),
        detectives=seat(record.aside.detectives),
    )
    return msgspec.structs.replace(record, core=core, notes=notes, aside=aside)
