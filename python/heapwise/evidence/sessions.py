"""Rounds of several sessions, hours or days apart, as ``resume`` makes them.

Within a session both labels of the baseline share the machine's state, so the noise floor does not
see that a ratio differs from one session to the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from heapwise.evidence.evidence import Evidence
from heapwise.evidence.series import Pairs
from heapwise.stats.basics.student import LEAST, differ
from heapwise.stats.ratios.blocks import BlockError, block_error
from heapwise.wording.numbers import TIME_UNITS

GAP_S = 3600.0
"""Processes that began farther apart are of two sessions."""

LEVEL = 0.05
TYPICAL = 0.005
"""How much the ratio of times differs from session to session, if no other subject tells. It is an
assumption; two sessions of one subject can agree by chance."""

MATTERS = 0.5
"""The share of the difference itself: sessions that differ by less agree in what they show."""


def sessions_of(evidence: Evidence) -> dict[int, int]:
    """Round -> the number of its session, from 0; all are 0 if the run was never interrupted."""
    times = sorted(
        (when.timestamp(), process.round)
        for process in evidence.stored.processes
        if (when := _time(process.started_at)) is not None
    )
    found: dict[int, int] = {}
    session, before = 0, times[0][0] if times else 0.0
    for at, number in times:
        session += at - before > GAP_S
        found.setdefault(number, session)
        before = at
    return found


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def session_words(pairs: Pairs, sessions: Mapping[int, int]) -> str:
    """``its ratio was 1.021 in the first session and 0.983 in the next``, if two of them differ
    by more than their rounds explain; else "". sessions: as ``sessions_of`` has them."""
    if not any(sessions.values()):
        return ""
    groups = _logs_by_session(pairs, sessions)
    known = [logs for logs in groups if len(logs) >= LEAST]
    for first, second in itertools.pairwise(known):
        means = [float(np.mean(logs)) for logs in (first, second)]
        matters = abs(means[0] - means[1]) > MATTERS * abs(sum(means) / 2)
        if matters and differ(first, second, LEVEL / (len(known) - 1)):
            ratios = np.exp(means)
            return (
                f"its ratio was {ratios[0]:.3f} in one session and {ratios[1]:.3f} in the "
                "next, so there is not one figure"
            )
    return ""


def _logs_by_session(pairs: Pairs, sessions: Mapping[int, int]) -> list[list[float]]:
    """The logarithms of the ratios of each session, in the order of time."""
    if not pairs.has_ratio:
        return []
    groups: dict[int, list[float]] = {}
    for number, above, below in zip(pairs.rounds, pairs.above, pairs.below, strict=True):
        groups.setdefault(sessions.get(number, 0), []).append(float(np.log(above / below)))
    return [logs for _, logs in sorted(groups.items())]


def session_error(
    subjects: Sequence[Pairs], sessions: Mapping[int, int], unit: str
) -> BlockError | None:
    """How sure the ratios of a cell are, since sessions differ.

    subjects: each subject with the baseline. sessions: as ``sessions_of`` has them.
    """
    return block_error(
        [_logs_by_session(pairs, sessions) for pairs in subjects],
        TYPICAL if unit in TIME_UNITS else 0.0,
    )
