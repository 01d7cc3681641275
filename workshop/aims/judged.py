"""Whether this run shows what the project aims at: pools, heap and trees, from pairs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from heapwise.analysis.summary.headlines import label
from heapwise.analysis.verdicts.expectations import ExpectationWord
from heapwise.analysis.verdicts.gain import (
    gain,
    is_speed,
    mean_floor,
    mean_gain,
    quantity_of,
)
from heapwise.analysis.verdicts.roles import spoken
from heapwise.analysis.verdicts.standing import is_whole
from heapwise.analysis.verdicts.verdict import AT_MOST, EQUIVALENT, Figure, floor_of, kept
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.series import Series
from heapwise.model import Cell, Setting, Trust
from heapwise.stats.series.center import location_interval
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent
from workshop.aims.cells import (
    WALL,
    cells_of,
    covered,
    experiment_of,
    is_where,
    obstacle_of,
    why_unmeasured,
)
from workshop.aims.declared import Aim, LimitAim, MeanAim, RowAim, ScaleAim, Subject, aims
from workshop.aims.goal import Goal
from workshop.aims.rivals import INLINED, OURS, absent, members

UNTRUSTED = "the figures are not trustworthy"


TREES = "trees/binary_trees"


def goals(evidence: Evidence, trust: Trust) -> list[Goal]:
    """A goal for each aim of the pools, the heap and the trees; none of a smoke run."""
    if evidence.stored.run.plan.smoke:
        return []
    return _trusted([_goal(evidence, aim) for aim in _asked(evidence)], trust)


def goals_of(evidence: Evidence, subject: Subject, trust: Trust) -> list[Goal]:
    """A goal for each aim of one file."""
    return _trusted([_goal(evidence, aim) for aim in aims(subject)], trust)


def _asked(evidence: Evidence) -> list[Aim]:
    """The aims of pools whose experiment is in the run with the subject that it is about. Those of
    the heap, if its family is in the run with our heap. Those of the trees, if they are in it."""
    experiments = evidence.stored.run.experiments
    measured = {
        (e.id, spec.name)
        for e in experiments
        for spec in e.subjects
        if spec.name in evidence.subjects
    }
    found = [aim for aim in aims("pools") if (experiment_of(aim), aim.ours) in measured]
    if {OURS, INLINED} & evidence.subjects.keys() and any(e.family == "heap" for e in experiments):
        found += aims("heap")
    if TREES in evidence.experiments:
        found += aims("trees")
    return found


def _trusted(found: list[Goal], trust: Trust) -> list[Goal]:
    if trust.verdict != "not trustworthy":
        return found
    return [
        replace(g, verdict="cannot tell here", note=UNTRUSTED) if g.ratio is not None else g
        for g in found
    ]


def _goal(evidence: Evidence, aim: Aim) -> Goal:
    if isinstance(aim, RowAim):
        return _rows(evidence, aim)
    if isinstance(aim, MeanAim):
        return _mean(evidence, aim)
    return _scale(evidence, aim) if isinstance(aim, ScaleAim) else _limit(evidence, aim)


def _rows(evidence: Evidence, aim: RowAim) -> Goal:
    at_most = aim.rows == "peak"
    label, sense = f"{aim.ours} / {aim.rivals}", _sense(aim.factor, at_most)
    parts = [_row(evidence, aim, cell) for cell in covered(evidence, aim)]
    if not any(part.ratio is not None for part in parts):
        where = " and ".join(f"{name} {_spoken(value)}" for name, value in aim.where.items())
        here = any(c.experiment == aim.experiments for c in evidence.table)
        note = (
            f"no row of {where}"
            if where and here and not parts
            else why_unmeasured(evidence, aim.experiments, aim.ours)
        )
        return Goal(aim.says, label, sense, None, None, None, "not measured", note)
    if len(parts) == 1:
        return replace(parts[0], cell=f"{aim.says} ({parts[0].cell})")
    measured = [part for part in parts if part.ratio is not None]
    worst = (max if at_most else min)(measured, key=lambda part: part.ratio or 0.0)
    missing = absent((n for c in covered(evidence, aim) for n in evidence.table[c]), aim.rivals)
    verdict = _together([part.verdict for part in parts], bool(missing))
    counts = Counter(part.verdict for part in parts)
    words = [f"{n} {word.removesuffix(' here')}" for word, n in counts.most_common()]
    note = f"{', '.join(words)} of {len(parts)} rows; worst: {worst.cell}"
    if missing:
        note += f"; without {', '.join(missing)}"
    return replace(worst, cell=aim.says, aim=sense, verdict=verdict, note=note, parts=parts)


def _spoken(values: Setting | list[Setting]) -> str:
    return " or ".join(map(str, values)) if isinstance(values, list) else str(values)


def _together(words: list[ExpectationWord], incomplete: bool) -> ExpectationWord:
    """All of them: one that failed decides, and nothing is met while a part is unknown."""
    if "not met" in words:
        return "not met"
    return "met" if set(words) == {"met"} and not incomplete else "cannot tell here"


def _row(evidence: Evidence, aim: RowAim, cell: Cell) -> Goal:
    """Ours against each rival of the cell; shown is the one that it does worst against."""
    row, at_most = _counting(evidence, cell), aim.rows == "peak"
    name, sense = label(evidence, cell), _sense(aim.factor, aim.rows == "peak")
    found: dict[str, Figure] = {}
    for rival in _rivals(evidence, aim, cell) if aim.ours in row else []:
        ratio, note = gain(evidence, cell, aim.ours, rival) if rival != aim.ours else (None, "")
        if ratio is not None:
            found[rival] = Figure.of(ratio, note)
    if not found:
        lost = aim.ours if aim.ours not in row else aim.rivals
        return Goal(
            name,
            f"{aim.ours} / {aim.rivals}",
            sense,
            None,
            None,
            None,
            "not measured",
            f"no {lost} was measured",
        )
    worst = min(found, key=lambda rival: found[rival].value)
    margin = _margin(evidence, aim, cell)
    floor = (
        None if margin else comparisons_of(evidence).floors.get(cell)
    )  # "no difference" has neither
    words: list[ExpectationWord] = [
        kept(
            replace(figure, strict=None) if margin else figure,
            _least(aim) / (1 + margin),
            None,
            floor,
        )
        for figure in found.values()
    ]
    figure = found[worst]
    note = figure.note
    if margin:
        note = "; ".join(n for n in (f"level within {percent(margin)} counts", note) if n)
    obstacle = obstacle_of(evidence, cell)
    shown = figure.inverse() if at_most else figure
    return Goal(
        name,
        f"{aim.ours} / {spoken(aim.rivals, worst)}",
        sense,
        shown.value,
        shown.low,
        shown.high,
        "cannot tell here" if obstacle else _together(words, False),
        obstacle or note,
    )


def _counting(evidence: Evidence, cell: Cell) -> dict[str, Series]:
    """Only programs without a failure: one wrong sum, and no round of it counts."""
    row = evidence.table[cell]
    if not evidence.experiments[cell.experiment].is_of_programs:
        return row
    return {name: series for name, series in row.items() if is_whole(evidence, cell, name)}


def _rivals(evidence: Evidence, aim: RowAim, cell: Cell) -> list[str]:
    found = members(evidence, _counting(evidence, cell), aim.rivals)
    times = evidence.table.get(replace(cell, quantity=WALL), {})
    if not aim.fastest or not times:
        return found
    return sorted((n for n in found if n in times), key=lambda n: times[n].middle)[:1]


def _margin(evidence: Evidence, aim: RowAim, cell: Cell) -> float:
    allowed = aim.allow.get(cell.experiment)
    floor = comparisons_of(evidence).floors.get(cell, 0.0)
    if allowed == "level":
        floor = max(EQUIVALENT, floor)
    return min(AT_MOST, floor) if allowed else 0.0


def _mean(evidence: Evidence, aim: MeanAim) -> Goal:
    cells, at_most = covered(evidence, aim), aim.rows == "peak"
    label, sense = f"{aim.ours} / {aim.rivals}", _sense(aim.factor, at_most)
    rivals = list(
        dict.fromkeys(
            name for c in cells for name in members(evidence, evidence.table[c], aim.rivals)
        )
    )
    found, left_out = {}, []
    for rival in rivals:
        mean, _ = mean_gain(evidence, cells, aim.ours, rival)
        if mean is None:
            left_out.append(rival)
        else:
            found[rival] = Figure.of(mean)
    if not found:
        return Goal(
            aim.says,
            label,
            sense,
            None,
            None,
            None,
            "not measured",
            "nothing was measured in every row",
        )
    worst = min(found, key=lambda rival: found[rival].value)
    figure, floor = found[worst], mean_floor(evidence, cells)
    experiments = len({cell.experiment for cell in cells})
    note = f"{len(cells)} rows of {counted(experiments, 'experiment')}"
    if aim.rows == "main":
        note += ", without quantiles of single calls"
    if left_out:
        note += f"; not measured in every row: {', '.join(left_out)}"
    shown = figure.inverse() if at_most else figure
    return Goal(
        aim.says,
        f"{aim.ours} / {spoken(aim.rivals, worst)}",
        sense,
        shown.value,
        shown.low,
        shown.high,
        _together([kept(f, _least(aim), None, floor) for f in found.values()], False),
        note,
    )


def _least(aim: RowAim | MeanAim) -> float:
    """The least of a gain, which is above 1 where ours is better, also where it has less memory."""
    return 1 / aim.factor if aim.rows == "peak" else aim.factor


def _scale(evidence: Evidence, aim: ScaleAim) -> Goal:
    cells = [c for c in cells_of(evidence, aim.experiment) if is_speed(quantity_of(evidence, c))]
    label = f"{aim.ours}: {aim.parameter} {aim.at} / {aim.over}"
    by_value: dict[Setting, Cell] = {c.parameters.get(aim.parameter): c for c in reversed(cells)}
    above, below = by_value.get(aim.at), by_value.get(aim.over)
    nothing = Goal(
        aim.says,
        label,
        _sense(aim.factor),
        None,
        None,
        None,
        "not measured",
        why_unmeasured(evidence, aim.experiment, aim.ours),
    )
    if above is None or below is None:
        values = f"{aim.parameter} {aim.at} and {aim.over}"
        return replace(nothing, note=f"no rows of {values}") if cells else nothing
    sides = (above, aim.ours), (below, aim.ours)
    if any(aim.ours not in evidence.table[cell] for cell, _ in sides):
        return nothing
    if quantity_of(evidence, above).better == "lower":
        sides = sides[1], sides[0]
    ratio, _ = comparisons_of(evidence).ratio(*sides)
    if ratio is None:
        return nothing
    obstacle = obstacle_of(evidence, above)
    figure = Figure.of(ratio)
    return replace(
        nothing,
        ratio=ratio.ratio,
        low=ratio.low,
        high=ratio.high,
        note=obstacle,
        verdict="cannot tell here"
        if obstacle
        else kept(figure, aim.factor, None, floor_of(evidence, sides)),
    )


def _limit(evidence: Evidence, aim: LimitAim) -> Goal:
    sense = f"at most {aim.limit:g}"
    cells = [
        c
        for c in cells_of(evidence, aim.experiment)
        if c.quantity == aim.quantity and aim.ours in evidence.table[c] and is_where(aim, c)
    ]
    parts = []
    for cell in cells:
        series = evidence.table[cell][aim.ours]
        interval = location_interval(
            list(series.rounds.values()), step=comparisons_of(evidence).step(cell, aim.ours)
        )
        figure = Figure(series.middle, interval.low, interval.high, interval.note)
        verdict = kept(figure, 0.0, aim.limit, comparisons_of(evidence).floors.get(cell))
        parts.append(
            Goal(
                f"{aim.says} ({label(evidence, cell)})",
                aim.ours,
                sense,
                figure.value,
                figure.low,
                figure.high,
                verdict,
                figure.note,
            )
        )
    if not parts:
        return Goal(
            aim.says,
            aim.ours,
            sense,
            None,
            None,
            None,
            "not measured",
            why_unmeasured(evidence, aim.experiment, aim.ours),
        )
    worst = max(parts, key=lambda part: part.ratio or 0.0)
    return replace(
        worst,
        verdict=_together([part.verdict for part in parts], False),
        parts=parts if len(parts) > 1 else [],
    )


def _sense(factor: float, at_most: bool = False) -> str:
    return f"at {'most' if at_most else 'least'} {factor:.2f}x"
