"""Records in files: a JSON object a line, as `arena export --format jsonl` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from arena.errors import ConfigError, RecordError
from arena.referee.record import GameRecord, SideWord
from arena.referee.replay import replay
from protocol.messages import Play

__all__ = ["Line", "Said", "read_records", "transcript"]


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a game: by the referee to a side, or by a side."""

    by: Literal["referee", "mister_x", "detectives"]
    to: Literal["referee", "mister_x", "detectives"]
    message: Any


class Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="arena.game/1"):
    """One game: its record, and what was said in it (all but greetings; without map and lists)."""

    record: GameRecord
    transcript: tuple[Said, ...] = ()


def transcript(record: GameRecord) -> tuple[Said, ...]:
    """Return what the referee and both sides said, in order; nothing if it does not replay.

    Lists of legal plies and the map are left out: they follow from the rules.
    """
    try:
        replayed = replay(record.core, aside=record.aside, wants=("events",))
    except RecordError:
        return ()
    said: list[Said] = []
    plays = record.core.plays
    last = -1
    for sent in replayed.sent:
        if last < sent.play - 1 < len(plays):
            last = sent.play - 1
            said.append(answer(record, last))
        said.append(
            Said(
                by="referee",
                to=sent.side.value,
                message=msgspec.Raw(msgspec.json.encode(sent.message)),
            )
        )
    return tuple(said)


def answer(record: GameRecord, index: int) -> Said:
    """Return what a bot said in one of its plays."""
    play = record.core.plays[index]
    side: SideWord = play.side
    message: dict[str, Any] = {"type": Play.__struct_config__.tag, "plies": list(play.plies)}
    if play.more:
        message["more"] = True
    if index in record.notes:
        message["note"] = record.notes[index]
    return Said(by=side, to="referee", message=message)


def read_records(file: Path) -> Iterator[tuple[str, GameRecord]]:
    """Yield each record of a file with its id; lines may be bare records as well.

    Raises:
        ConfigError: if the file can't be read or a line is no record; names file and line.
    """
    lines = msgspec.json.Decoder(Line)
    records = msgspec.json.Decoder(GameRecord)
    try:
        with file.open("rb") as reader:
            for number, text in enumerate(reader, 1):
                if not text.strip():
                    continue
                try:
                    bare = b'"schema"' not in text[:40]
                    record = records.decode(text) if bare else lines.decode(text).record
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise ConfigError(f"{file}:{number}: this is no record: {error}.") from error
                yield record.core.game, record
    except OSError as error:
        raise ConfigError(f"{file}: can't be read ({error.strerror}).") from error
