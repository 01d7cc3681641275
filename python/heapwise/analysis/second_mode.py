"""Runs of another kind than the typical one, which the interval of the typical run does not see."""

from __future__ import annotations

from heapwise.analysis.verdict import EQUIVALENT
from heapwise.evidence import Evidence
from heapwise.evidence.series import Series
from heapwise.model import Cell
from heapwise.stats.rare_runs import RareRuns, rare_runs
from heapwise.stats.two_clusters import two_clusters
from heapwise.wording.numbers import scale_for, significant

CERTAIN = 0.005
"""One-sided: of identical subjects one row in 100 is said to have rare runs."""


def rare_words(evidence: Evidence, cell: Cell, subject: str, base: str) -> str:
    """``5 of 28 runs are about 9.40 times as large as the typical one (glibc: 0 of 56)``; "" if the
    subject and the baseline have as many of them, as far as can be told."""
    found = rare_of(evidence, cell, subject, base)
    if found is None:
        return ""
    return (
        f"{found.new_count} of {found.new_runs} runs are about {significant(found.size)} times "
        f"as large as the typical one ({base}: {found.base_count} of {found.base_runs})"
    )


def rare_of(evidence: Evidence, cell: Cell, subject: str, base: str) -> RareRuns | None:
    """None if they are as many as in the baseline under both its labels."""
    row = evidence.table.get(cell, {})
    labels = [name for name in (base, evidence.controls.get(cell.experiment, "")) if name in row]
    if subject not in row or subject in labels or not labels:
        return None
    known = [value for name in labels for value in row[name].rounds.values()]
    found = rare_runs(list(row[subject].rounds.values()), known, EQUIVALENT)
    return found if found and min(found.p_more, found.p_less) < CERTAIN else None


def kinds_words(series: Series, unit: str) -> str:
    """``two kinds of runs: 30 of about 24.9 MiB and 32 of about 66.0 MiB``; "" for one kind."""
    found = two_clusters(list(series.rounds.values()))
    if found is None:
        return ""
    scale = scale_for([found.lower], unit)
    return (
        f"two kinds of runs: {found.lower_runs} of about {scale.text(found.lower)} and "
        f"{found.upper_runs} of about {scale.text(found.upper)}"
    )
