"""What the laboratory promises of its verdicts, by random campaigns with a known truth.

The seeds are fixed, so a result changes only if the analysis does. 60 campaigns for each promise;
``make test-long`` has 1,000, and ``make simulate`` prints their table.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from simulation.answers import ask
from simulation.promises import promises

CAMPAIGNS = int(os.environ.get("HEAPWISE_CAMPAIGNS", "60"))
FULL = 1000

CONFIDENCE = 0.95 if CAMPAIGNS >= FULL else 0.999
"""A promise is broken if the whole interval is outside. With few campaigns and many promises an
interval of 95 % would miss somewhere by chance."""

PROMISES = promises()

UNKEPT: dict[str, str] = {}
"""Promise -> why the analysis does not keep it yet."""

UNKEPT_OF_MANY: dict[str, str] = {}
"""The same, where it takes 1,000 campaigns to see it."""


def parameters() -> list[Any]:
    unkept = UNKEPT | (UNKEPT_OF_MANY if CAMPAIGNS >= FULL else {})
    return [
        pytest.param(
            name,
            marks=pytest.mark.xfail(strict=True, reason=unkept[name]) if name in unkept else (),
        )
        for name in PROMISES
    ]


@pytest.mark.parametrize("name", parameters())
def test_the_analysis_keeps_its_promise(name: str) -> None:
    promise = PROMISES[name]
    found = ask(promise, CAMPAIGNS * (promise.times if CAMPAIGNS >= FULL else 1), seed=name)
    assert not found.contradicts(promise.low, promise.high, CONFIDENCE), (
        f"{found.hits} of {found.rows}, promised {promise.low:.0%} to {promise.high:.0%}"
    )
