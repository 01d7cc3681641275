"""The A/A test: how much does the same subject differ from itself under two names?

Every round runs the baseline under two names. The noise floor is how far the interval of the ratio
of both reaches from 1. If that interval excludes 1, Heapwise does not claim smaller differences. By
chance one interval in twenty excludes 1. If more intervals exclude 1 than chance explains, or if
one ratio certainly is not 1, the order or the names influence the figures.
If it warns or fails: the machine is not quiet, or there are too few rounds. --time 10m.
"""

from __future__ import annotations

from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.earlier_runs import calibration_words
from heapwise.model import SIDE_BY_SIDE, Cell, Check, Verdict
from heapwise.stats.claims.holm import holm
from heapwise.stats.ratios.noise import NoiseFloor
from heapwise.wording.lists import counted, listed
from heapwise.wording.numbers import percent

ID, TITLE = "V5", "The baseline equals itself (A/A)"

SURE = 0.01
"""The level of each of the two tests: one clean campaign in a hundred is called biased."""

MATTERS = 0.01
"""A certain difference of less than 1 % widens the noise floor, which covers it: a warning. So does
one of a quantity that stands beside the first, whose own rows alone it concerns: a count such as
page faults changes by the page at which a stack begins."""

LEVEL = 0.05
"""The share of A/A intervals that exclude 1 by chance, since they are 95 % intervals."""

LARGEST = 10
"""A factor. What is found only if it is larger needs no exact figure."""

TOO_NOISY = 0.05
"""With a wider floor differences that matter to most programs cannot be seen."""


def check(evidence: Evidence) -> Check:
    floors = comparisons_of(evidence).noise
    if not floors:
        return Check(
            ID,
            TITLE,
            "unavailable",
            "No A/A pair was measured in at least 3 rounds, so "
            "there is no noise floor: small differences cannot be told from chance.",
        )
    adjusted = dict(zip(floors, holm([f.p_value for f in floors.values()]), strict=True))
    main = _main(evidence)
    outside, chance = _outside(main)
    figures = {
        "floors": [_figure(c, floors[c], adjusted[c]) for c in floors],
        "outside": outside,
        "intervals": len(main),
        "p_outside": chance,
    }
    certain = {c: abs(floors[c].ratio.ratio - 1) for c in floors if adjusted[c] < SURE}
    unequal = "The same thing under two labels does not come out the same: " + listed(
        f"{c.quantity} differs by {percent(gap)}" for c, gap in certain.items()
    )
    judged = {c for c in certain if c in main or c.quantity == SIDE_BY_SIDE}
    if any(certain[c] > MATTERS for c in judged):
        return Check(ID, TITLE, "fail", f"{unequal}.", figures)
    if chance < SURE:
        return Check(
            ID,
            TITLE,
            "fail",
            f"{outside} of {len(main)} A/A intervals exclude 1, where "
            f"chance explains {LEVEL * len(main):.1f} (p {chance:.1g}): order or labels "
            "matter, or rounds depend on each other.",
            figures,
        )
    if certain:
        return Check(ID, TITLE, "warn", f"{unequal}. The noise floor covers it.", figures)
    beside = {cell: floor for cell, floor in floors.items() if cell.quantity == SIDE_BY_SIDE}
    verdict, words = _verdict(beside or main or floors)
    if beside and main:
        apart = max(floor.floor for floor in main.values())
        words += f" Times of separate processes have a noise floor of ±{percent(apart)}."
    if wider := calibration_words(evidence):
        words += f" {wider}."
    return Check(ID, TITLE, verdict, words, figures)


def _main(evidence: Evidence) -> dict[Cell, NoiseFloor]:
    """For each cell, the experiment's first quantity: others of the same processes depend on it."""
    firsts = {e.id: e.quantities[0].name for e in evidence.stored.run.experiments}
    return {
        cell: floor
        for cell, floor in comparisons_of(evidence).noise.items()
        if cell.quantity == firsts.get(cell.experiment)
    }


def _outside(main: dict[Cell, NoiseFloor]) -> tuple[int, float]:
    """How many intervals exclude 1, and P(at least as many) if each does so with ``LEVEL``."""
    from heapwise.stats.basics.special import bdtrc

    outside = sum(floor.biased for floor in main.values())
    return outside, float(bdtrc(outside - 1, len(main), LEVEL)) if outside else 1.0


def _verdict(floors: dict[Cell, NoiseFloor]) -> tuple[Verdict, str]:
    outside = sum(floor.biased for floor in floors.values())
    worst = max(floors, key=lambda cell: floors[cell].floor)
    floor = floors[worst]
    said = "the widest noise floor is" if len(floors) > 1 else "the noise floor is"
    words = (
        f"{len(floors) - outside} of {len(floors)} A/A intervals contain 1; {said} "
        f"±{percent(floor.floor)}, for {worst.quantity} from "
        f"{counted(floor.pairs, 'A/A pair')}; {_found(floor.detectable)} "
        "would be found there 4 times in 5"
    )
    if floor.floor > TOO_NOISY:
        return "warn", f"{words}. That is too noisy for differences under {percent(TOO_NOISY)}."
    return "pass", f"{words}."


def _found(share: float) -> str:
    """Beyond some factor the simulation of a few rounds has no figures to show."""
    if share > LARGEST - 1:
        return f"no difference by a factor of less than {LARGEST}"
    return f"a difference of {percent(share)}"


def _figure(cell: Cell, floor: NoiseFloor, adjusted: float) -> dict[str, object]:
    return {
        "experiment": cell.experiment,
        "parameters": dict(cell.parameters),
        "quantity": cell.quantity,
        "floor": floor.floor,
        "detectable": floor.detectable,
        "pairs": floor.pairs,
        "ratio": floor.ratio.ratio,
        "low": floor.ratio.low,
        "high": floor.ratio.high,
        "p_value": floor.p_value,
        "p_adjusted": adjusted,
    }
