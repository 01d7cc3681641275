"""Runs far beyond the typical one, which the interval of the typical run does not see."""

from __future__ import annotations

from heapwise.analysis.verdicts.verdict import EQUIVALENT
from heapwise.evidence import Evidence
from heapwise.evidence.series import Series
from heapwise.model import SIDE_BY_SIDE, Cell, RareShare
from heapwise.stats.claims.rare_limits import SEEN
from heapwise.stats.claims.rare_runs import RareRuns, rare_runs
from heapwise.stats.series.two_clusters import two_clusters
from heapwise.wording.numbers import percent, scale_for, times
from heapwise.wording.ratios import percent_ends

CERTAIN = 0.005
"""One-sided: of identical subjects one row in 100 is said to have rare runs."""


def rare_share(found: RareRuns | None) -> RareShare | None:
    """None without such a run."""
    if found is None or not found.new_count + found.base_count:
        return None
    return RareShare(
        found.new_count,
        found.new_runs,
        found.base_count,
        found.base_runs,
        found.size,
        found.low,
        found.high,
        found.p_more,
    )


def rare_words(found: RareRuns, new: str, base: str, runs: str = "runs") -> str:
    """``5 of 28 runs of new need 9.41 times as much as its typical run (18 % of its runs, 95 % CI
    6 to 37 %), and 0 of 56 of base``. runs: as ``value_words`` has it."""
    share = found.new_count / found.new_runs
    one = runs.removesuffix("s") if runs == "runs" else "group"
    return (
        f"{found.new_count} of {found.new_runs} {runs} of {new} need {times(found.size)} as much "
        f"as a typical {one} ({percent(share)} of them, 95 % CI "
        f"{percent_ends(1 + found.low, 1 + found.high)}), and {found.base_count} of "
        f"{found.base_runs} of {base}"
    )


def unseen(found: RareRuns | None) -> str:
    """A caveat of "fine" after few rounds; "" after enough of them."""
    if found is None or found.new_count or found.new_runs >= SEEN:
        return ""
    return (
        f"; in {found.new_runs} rounds rare runs that need more are not seen if they are fewer "
        f"than {percent(found.high)}"
    )


def value_words(evidence: Evidence, cell: Cell) -> str:
    """What a value of the cell is of, in words: side by side it may be the mean of several runs."""
    runs = evidence.stored.run.plan.options.runs_beside if cell.quantity == SIDE_BY_SIDE else 1
    return "runs" if runs == 1 else f"groups of {runs} runs"


def rare_of(evidence: Evidence, cell: Cell, subject: str, base: str) -> RareRuns | None:
    """None if they are as many as in the baseline under both its labels."""
    row = evidence.table.get(cell, {})
    is_base = base == evidence.baselines.get(cell.experiment)
    control = evidence.controls.get(cell.experiment, "") if is_base else ""
    labels = [name for name in (base, control) if name in row]
    if subject not in row or subject in labels or not labels:
        return None
    if cell.quantity == SIDE_BY_SIDE and is_base:  # a ratio to the baseline, whose own is always 1
        labels = [name for name in (control,) if name in row]
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
