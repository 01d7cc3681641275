"""Runs far beyond the typical one, in words."""

from __future__ import annotations

from heapwise.model import RareShare
from heapwise.stats.rare_limits import SEEN
from heapwise.stats.rare_runs import RareRuns
from heapwise.wording.numbers import percent, times
from heapwise.wording.ratios import percent_ends


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


def rare_words(found: RareRuns, new: str, base: str) -> str:
    """``5 of 28 runs of new need 9.41 times as much as its typical run (18 % of its runs, 95 % CI
    6 to 37 %), and 0 of 56 of base``."""
    share = found.new_count / found.new_runs
    return (
        f"{found.new_count} of {found.new_runs} runs of {new} need {times(found.size)} as much "
        f"as a typical run ({percent(share)} of them, 95 % CI "
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
