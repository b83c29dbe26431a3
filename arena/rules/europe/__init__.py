"""Europe: "Mister X: Flucht durch Europa", edition of 2009, on a board of our own."""

from arena.rules.europe.ruleset import PRESETS, Europe
from arena.rules.europe.state import State
from arena.rules.europe.views import DetectivesView, MisterXView

__all__ = ["PRESETS", "DetectivesView", "Europe", "MisterXView", "State"]
