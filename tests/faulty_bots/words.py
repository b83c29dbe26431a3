"""Bots whose words are to steer a terminal, a page, a table or a log: section F, a row a name."""

from __future__ import annotations

import json
import os
import sys

from speaking import Message, Talk, encode, write

with open("words.json") as file:  # noqa: PTH123 - in the bot's folder
    WORDS: dict[str, str] = json.load(file)
ALL = "".join(WORDS.values())


class Words(Talk):
    """Says it at its second turn, in the place of the row that it is started with."""

    def turn(self, message: Message) -> None:
        """Take a turn, and say it."""
        if self.turns == 2:
            getattr(self, self.row.replace("-", "_"))(message)
        else:
            super().turn(message)

    def in_stderr(self, message: Message) -> None:
        """F2: for the author to see."""
        os.write(2, ALL.encode() + b"\xff\xfe\n")
        super().turn(message)

    def in_last_words(self, message: Message) -> None:
        """F2: shown with a crash."""
        os.write(2, ALL.encode() + b"\xff\xfe\n")
        del message
        os._exit(7)

    def in_log(self, message: Message) -> None:
        """F7: in a log line."""
        write(encode({"type": "log", "text": ALL}))
        super().turn(message)

    def in_note(self, message: Message) -> None:
        """F6, F7: in the note of a play, as value and as key."""
        write(encode({**self.play(message), "note": {ALL[:300]: ALL, "list": [WORDS["markup"]]}}))

    def in_ticket(self, message: Message) -> None:
        """F2: in a play that is none."""
        said = self.play(message)
        said["plies"][0]["ticket"] = ALL
        write(encode(said))

    def in_type(self, message: Message) -> None:
        """F2: as the type of a message."""
        write(encode({**self.play(message), "type": ALL}))

    def in_id(self, message: Message) -> None:
        """F2: as the id of a request."""
        write(encode({**self.play(message), "id": ALL}))

    def in_key(self, message: Message) -> None:
        """F2: as a key, twice."""
        line = self.answer(message)
        twice = encode({ALL: 1})[1:-2]
        write(b"{" + twice + b"," + twice + b"," + line[1:])

    def in_plain(self, message: Message) -> None:
        """F2: as it is, instead of an answer."""
        del message
        write(ALL.replace("\n", " ").encode() + b"\n")


class Hello(Talk):
    """Says it of itself when it is greeted."""

    def about(self, message: Message) -> Message:
        """Introduce itself."""
        key, _, what = self.row.removeprefix("hello-").partition("-")
        words = {**WORDS, "path": "../../x", "option": "-rf"}
        said: dict[str, Message] = {
            "name": {"name": words[what]},
            "version": {"version": words[what]},
            "rulesets": {"rulesets": [words[what][:60]]},
        }
        return {**super().about(message), **said[key]}


if __name__ == "__main__":
    (Hello if sys.argv[1].startswith("hello") else Words)().run()
