"""Lets tests import what a staged bot has beside it: the SDK and the shared parts, as installed."""

from __future__ import annotations

import importlib.resources
import sys

for _folder in ("sdk", "parts"):
    _place = str(importlib.resources.files("bots") / _folder)
    if _place not in sys.path:
        sys.path.append(_place)
