"""A pursuit on ten stations: a whole game that is plugged into the arena (rules: RULES.md)."""

from .ruleset import PRESETS, TenStations
from .state import State, Step

__all__ = ["PRESETS", "State", "Step", "TenStations"]
