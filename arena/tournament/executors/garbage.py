"""How often a worker looks for circles among its objects: seldom, and never among what stays."""

from __future__ import annotations

import gc

__all__ = ["look_seldom"]

# A game leaves a few hundred objects in circles (tasks, nurseries), a fraction of what it makes and
# reference counting frees. Looking every 700 objects, as Python does, took 7 % of a worker's time.
_THRESHOLDS = 20_000, 20, 100


def look_seldom() -> None:
    """Leave alone what is loaded by now, and look at the rest less often, in this process.

    Memory grows by some MiB at most before a look; growth over many games is measured by
    `arena bench`.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
