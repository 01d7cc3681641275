"""What the laboratory promises of its verdicts, by random campaigns with a known truth.

The seeds are fixed, so a result changes only if the analysis does. 60 campaigns for each promise;
``make test-long`` has 1,000, and ``make simulate`` prints their table.
"""

from __future__ import annotations

import os

import pytest

from simulation.answers import ask
from simulation.promises import promises

CAMPAIGNS = int(os.environ.get("HEAPWISE_CAMPAIGNS", "60"))
FULL = 1000

CONFIDENCE = 0.95 if CAMPAIGNS >= FULL else 0.999
"""A promise is broken if the whole interval is outside. With few campaigns and many promises an
interval of 95 % would miss somewhere by chance."""

PROMISES = promises()


@pytest.mark.parametrize("name", PROMISES)
def test_the_analysis_keeps_its_promise(name: str) -> None:
    promise = PROMISES[name]
    found = ask(promise, CAMPAIGNS, seed=name)
    assert not found.contradicts(promise.low, promise.high, CONFIDENCE), (
        f"{found.hits} of {found.rows}, promised {promise.low:.0%} to {promise.high:.0%}")
