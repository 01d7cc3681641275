"""The A/A test. One thing under two labels: how different does it look from itself?

The baseline runs under two names in every round. How far its ratio to itself strays from 1 is the
noise floor; smaller differences are not claimed.
If it warns or fails: the machine is not quiet, or there are too few rounds. --time 10m.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.series import Cell
from heapwise.model import Check, Verdict
from heapwise.stats.holm import holm
from heapwise.stats.noise import NoiseFloor
from heapwise.trust.words import counted, listed, percent

ID, TITLE = "V5", "The baseline equals itself (A/A)"

SURE = 0.01
"""After Holm's adjustment over all quantities: one clean campaign in a hundred is accused."""

MATTERS = 0.01
"""A certain difference of less than 1 % widens the noise floor, which covers it: a warning."""


def check(evidence: Evidence) -> Check:
    pairs, floors = evidence.control_pairs, evidence.noise
    if not floors:
        return Check(ID, TITLE, "unavailable", "No A/A pair was measured, so there is no noise "
                     "floor: small differences cannot be told from chance.")
    cells = list(floors)
    # Repeats share a process with its layout of memory: two processes that differ prove no bias.
    tested = [floors[c].ratio.p_value if pairs[c].unit == "round" else 1.0 for c in cells]
    adjusted = dict(zip(cells, holm(tested), strict=True))
    figures = {"floors": [_figure(c, floors[c], adjusted[c]) for c in cells]}
    certain = [c for c in cells if adjusted[c] < SURE]
    if certain:
        gaps = {c: abs(floors[c].ratio.ratio - 1) for c in certain}
        words = [f"{c.quantity} differs by {percent(gap)}" for c, gap in gaps.items()]
        return Check(ID, TITLE, "fail" if max(gaps.values()) > MATTERS else "warn",
                     "The same thing under two labels does not come out the same: "
                     f"{listed(words)}.", figures)
    return Check(ID, TITLE, *_verdict(floors), figures)


def _verdict(floors: dict[Cell, NoiseFloor]) -> tuple[Verdict, str]:
    first = next(iter(floors.values()))
    words = (f"noise floor ±{percent(first.floor)} for {next(iter(floors)).quantity} from "
             f"{counted(first.pairs, 'A/A pair')}")
    if first.detectable is not None:
        words += f"; a difference of {percent(first.detectable)} would be found 4 times in 5"
    few = [f for f in floors.values() if f.note]
    if few:
        return "warn", f"{words[0].upper()}{words[1:]}. {few[0].note}."
    outside = sum(f.biased for f in floors.values())
    return "pass", (f"{words[0].upper()}{words[1:]}. "
                    f"{len(floors) - outside} of {len(floors)} A/A intervals contain 1.")


def _figure(cell: Cell, floor: NoiseFloor, adjusted: float) -> dict[str, object]:
    return {"experiment": cell.experiment, "parameters": cell.parameters,
            "quantity": cell.quantity, "floor": floor.floor, "detectable": floor.detectable,
            "pairs": floor.pairs, "ratio": floor.ratio.ratio, "low": floor.ratio.low,
            "high": floor.ratio.high, "p_adjusted": adjusted}
