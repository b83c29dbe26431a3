"""Records in files: a JSON object a line, as `arena export --format jsonl` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from arena.errors import ConfigError, RecordError
from arena.referee.record import GameRecord
from arena.referee.replay import replay
from protocol.messages import Play, Turn

__all__ = ["Line", "Said", "read_records", "transcript"]


class Said(msgspec.Struct, frozen=True, kw_only=True, rename={"by": "from"}):
    """One message of a game, as the golden transcripts of `protocol/` have it."""

    by: Literal["referee", "mister_x", "detectives"]
    to: Literal["referee", "mister_x", "detectives"]
    line: Any


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
    asked: dict[str, str] = {}  # side → id of what it is to answer
    last = -1
    for sent in replayed.sent:
        if last < sent.play - 1 < len(record.core.plays):
            last = sent.play - 1
            said.append(answer(record, last, asked))
        if isinstance(sent.message, Turn):
            asked[sent.side.value] = sent.message.id
        line = msgspec.Raw(msgspec.json.encode(sent.message))
        said.append(Said(by="referee", to=sent.side.value, line=line))
    return tuple(said)


def answer(record: GameRecord, index: int, asked: dict[str, str]) -> Said:
    """Return what a bot said in one of its plays."""
    play = record.core.plays[index]
    message = Play(
        id=asked[play.side],
        plies=play.plies,
        more=play.more,
        note=record.notes.get(index, msgspec.UNSET),
    )
    return Said(by=play.side, to="referee", line=msgspec.Raw(msgspec.json.encode(message)))


def read_records(file: Path) -> Iterator[tuple[str, GameRecord]]:
    """Yield each record of a file with its id; lines may be bare records as well.

    Raises:
        ConfigError: if the file can't be read or a line is no record; names file and line.
    """
    lines = msgspec.json.Decoder(Line)
    records = msgspec.json.Decoder(GameRecord)
    found = False
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
                except RecursionError as error:
                    raise ConfigError(
                        f"{file}:{number}: this is no record: nested too deeply."
                    ) from error
                found = True
                yield record.core.game, record
    except OSError as error:
        raise ConfigError(f"{file}: can't be read ({error.strerror}).") from error
    if not found:
        raise ConfigError(f"{file}: holds no record; `arena export --format jsonl` writes some.")
