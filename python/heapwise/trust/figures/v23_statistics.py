"""Are there enough independent samples for the claims, and are the claims significant together?

A mean of few, skewed numbers proves nothing, and among many comparisons some differ by chance.
Ratios come from paired rounds with rank intervals. Holm's adjustment shows which claims are
significant together.
If it warns: use more rounds (--rounds, --time).
"""

from __future__ import annotations

from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.claims import Claim
from heapwise.model import Check
from heapwise.model.json_value import Json
from heapwise.stats.basics.student import LEAST
from heapwise.stats.claims.holm import rounds_needed
from heapwise.stats.series.dependence import Dependence
from heapwise.wording.lists import counted, listed

ID, TITLE = "V23", "Enough numbers for the claims"

SURE = 0.01
"""From this p-value on the check says that rounds depend on each other."""


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    found = list(comparisons_of(evidence).claims.values())
    if not found:
        return Check(
            ID,
            TITLE,
            "unavailable",
            "There was nothing to compare.",
            {"damaged_lines": stored.damaged_lines},
        )
    few = [c for c in found if c.n < LEAST]
    fallen = [c for c in found if c.differs and not c.survives]
    tied = {
        id: d
        for id, d in comparisons_of(evidence).dependence.items()
        if d.p_value < SURE and d.factor > 1
    }
    drifting = {_name(c): c.drift for c in found if c.drift is not None}
    figures: dict[str, Json] = {
        "comparisons": len(found),
        "too_few": len(few),
        "fall_to_holm": [_name(c) for c in fallen],
        "damaged_lines": stored.damaged_lines,
        "correlated": {id: d.lag_one for id, d in tied.items()},
        "drifting": drifting,
    }
    troubles = _troubles(few, fallen, tied, stored.damaged_lines)
    if drifting:
        troubles.append(
            f"{_start(troubles)}ounds of {listed(drifting)} depend on the "
            "rounds before them, so the difference is not shown"
        )
    if troubles:
        return Check(ID, TITLE, "warn", f"{'; '.join(troubles)}.", figures)
    return Check(
        ID,
        TITLE,
        "pass",
        f"{counted(len(found), 'comparison')} from at least "
        f"{min(c.n for c in found)} paired rounds each; {_kept(evidence)}; what "
        "is claimed also survives Holm's adjustment.",
        figures,
    )


def _kept(evidence: Evidence) -> str:
    kept, total = len(evidence.filtered.kept), evidence.filtered.total
    return "every sample kept" if kept == total else f"{kept} of {total} samples kept"


def _start(troubles: list[str]) -> str:
    return "r" if troubles else "R"


def _troubles(
    few: list[Claim], fallen: list[Claim], tied: dict[str, Dependence], damaged: int
) -> list[str]:
    found = []
    if few:
        found.append(
            f"{counted(len(few), 'comparison')} with fewer than {LEAST} rounds "
            f"({listed(_name(c) for c in few)}): no interval, so no verdict"
        )
    if fallen:
        most = max(c.comparisons for c in fallen)
        least = rounds_needed(most)
        more = (
            "more rounds could tell"
            if all(c.n >= least for c in fallen)
            else f"at least {least} rounds are needed"
        )
        found.append(
            f"{counted(len(fallen), 'difference')} ({listed(_name(c) for c in fallen)}) "
            f"would not survive {counted(most, 'comparison')} at once; {more}"
        )
    if tied:
        widest = max(d.factor for d in tied.values())
        found.append(
            f"rounds depend on the rounds before them ({listed(tied)}), so intervals are "
            f"up to {widest:.1f} times as wide as they would otherwise be"
        )
    if damaged:
        found.append(f"{counted(damaged, 'line')} of the samples could not be read")
    return [words[0].upper() + words[1:] if not i else words for i, words in enumerate(found)]


def _name(claim: Claim) -> str:
    return f"{claim.subject} {claim.cell.quantity}"
