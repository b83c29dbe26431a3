"""What every test shares: the hypothesis profiles, and the order of loading."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "arena", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", parent=settings.get_profile("arena"), max_examples=1000)
settings.load_profile(os.environ.get("ARENA_HYPOTHESIS", "arena"))
