"""What Hypothesis may do to a test: no limit of its time, and the same inputs in each run.

Its usual limit of 200 ms for an input is broken by a process that loses its processor. With
HEAPWISE_TIER=long it tries new inputs, and three times as many.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

LONG = os.environ.get("HEAPWISE_TIER") == "long"
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=not LONG,
    database=None,
    max_examples=100 if LONG else 33,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")
