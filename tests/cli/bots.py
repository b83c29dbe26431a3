"""Small bots in folders of their own, for runs with real processes."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CRASHES", "SLOW", "write_bot"]

FRAME = """\
import json, sys, time

def say(**message):
    print(json.dumps(message), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        say(type="hello", id=message["id"], protocol=1, name="{name}",
            rulesets=["london-2013"], wants=["legal"])
    elif kind == "deal":
        say(type="ready", id=message["id"])
    elif kind == "turn":
        ply = message["legal"][0]
        {turn}
        say(type="play", id=message["id"], plies=[ply], more=ply["figure"] != "x")
"""
SLOW = "time.sleep(0.02)"  # the first legal ply, a little later: a game takes seconds
CRASHES = 'print("to its author", file=sys.stderr); raise SystemExit(7)'


def write_bot(folder: Path, name: str, turn: str) -> Path:
    """Write a bot that does something before each answer; return its folder."""
    bot = folder / name
    bot.mkdir(parents=True)
    (bot / "bot.py").write_text(FRAME.format(name=name, turn=turn))
    (bot / "bot.toml").write_text(f'name = "{name}"\ncommand = ["{{python}}", "-S", "bot.py"]\n')
    return bot
