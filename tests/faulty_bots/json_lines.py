"""Bots that write the wrong JSON, or the right JSON at the wrong time: section B, a row a name."""

from __future__ import annotations

import time

from speaking import Message, Talk, encode, write


class JsonLines(Talk):
    """Goes wrong at its third turn, in the way of the row that it is started with."""

    def turn(self, message: Message) -> None:
        """Take a turn, or go wrong."""
        if self.turns == 3:
            getattr(self, self.row.replace("-", "_"))(message)
        else:
            super().turn(message)

    def with_value(self, message: Message, value: bytes) -> None:
        """Answer with one more key, of this value."""
        write(self.answer(message).replace(b'"type"', b'"a": ' + value + b', "type"', 1))

    def with_place(self, message: Message, value: bytes) -> None:
        """Answer with this value as the place of every ply."""
        said = self.play(message)
        for ply in said["plies"]:
            ply["to"] = "PLACE"
        write(encode(said).replace(b'"PLACE"', value))

    def nest(self, message: Message) -> None:  # B1
        self.with_value(message, b"[" * 30_000)

    def nan(self, message: Message) -> None:  # B2
        self.with_value(message, b"NaN")

    def infinity(self, message: Message) -> None:
        self.with_value(message, b"Infinity")

    def minus_infinity(self, message: Message) -> None:
        self.with_value(message, b"-Infinity")

    def huge_int(self, message: Message) -> None:  # B3
        self.with_value(message, b"7" * 60_000)

    def big_int_53(self, message: Message) -> None:  # B4
        self.with_place(message, str(2**53 + 1).encode())

    def big_int_63(self, message: Message) -> None:
        self.with_place(message, str(2**63).encode())

    def minus_one(self, message: Message) -> None:
        self.with_place(message, b"-1")

    def float_place(self, message: Message) -> None:
        self.with_place(message, b"67.0")

    def twins(self, message: Message) -> None:  # B5
        write(self.answer(message).replace(b'"type"', b'"id": "other", "type"', 1))

    def a_list(self, message: Message) -> None:  # B6
        write(b"[" + self.answer(message)[:-1] + b"]\n")

    def a_string(self, message: Message) -> None:
        del message
        write(b'"play"\n')

    def null(self, message: Message) -> None:
        del message
        write(b"null\n")

    def a_number(self, message: Message) -> None:
        del message
        write(b"7\n")

    def extra_64(self, message: Message) -> None:  # B7
        write(encode({**{f"k{i}": i for i in range(64)}, **self.play(message)}))

    def extra_500(self, message: Message) -> None:
        write(encode({**{f"k{i}": i for i in range(500)}, **self.play(message)}))

    def missing(self, message: Message) -> None:  # B8
        said = self.play(message)
        del said["plies"]
        write(encode(said))

    def proto_key(self, message: Message) -> None:  # B9
        odd = {"__proto__": {"winner": "x"}, "__class__": "int", "constructor": "boom"}
        write(encode({**odd, **self.play(message)}))

    def trailing(self, message: Message) -> None:  # B10
        write(self.answer(message)[:-1] + b"} garbage\n")

    def two_objects(self, message: Message) -> None:
        write(self.answer(message)[:-1] + self.answer(message))

    def double(self, message: Message) -> None:  # B12
        write(self.answer(message) * 2)

    def old_id(self, message: Message) -> None:  # B13
        write(encode({**self.play(message), "id": self.ids[-2]}))

    def late(self, message: Message) -> None:  # B14
        time.sleep(0.9)
        super().turn(message)

    def id_guess(self, message: Message) -> None:  # B15
        following = f"{int(message['id'], 16) + 1:016x}"
        write(self.answer(message) + encode({**self.play(message), "id": following}))

    def liar(self, message: Message) -> None:  # B16
        lies = {"side": "mister_x", "winner": "detectives", "bank_ms": 99_999, "name": "other"}
        write(encode({**self.play(message), **lies}))

    def illegal(self, message: Message) -> None:  # B17
        said = self.play(message)
        said["plies"][0]["to"] = 199 if said["plies"][0]["to"] != 199 else 1
        write(encode(said))

    def not_its_own(self, message: Message) -> None:
        said = self.play(message)
        team = said["plies"][0]["figure"] != "x"
        said["plies"][0]["figure"] = "x" if team else "d1"
        write(encode(said))

    def stubborn(self, message: Message) -> None:  # B18
        self.illegal(message)
        self.illegal(message)

    def unknown_ticket(self, message: Message) -> None:
        said = self.play(message)
        said["plies"][0]["ticket"] = "helicopter"
        write(encode(said))

    def long_note(self, message: Message) -> None:
        write(encode({**self.play(message), "note": "n" * 1100}))

    def unknown_type(self, message: Message) -> None:
        write(encode({**self.play(message), "type": "plya"}))


if __name__ == "__main__":
    JsonLines().run()
