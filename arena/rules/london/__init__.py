"""London: Scotland Yard, edition of 2013, with the presets of other editions."""

from arena.rules.london.ruleset import PRESETS, London
from arena.rules.london.state import State, Step
from arena.rules.london.views import DetectivesView, MisterXView

__all__ = ["PRESETS", "DetectivesView", "London", "MisterXView", "State", "Step"]
