"""Goals and ratios, and the figures of published reports beside ours."""

from __future__ import annotations

from collections import Counter
from typing import Any

from heapwise.analysis.published_figures import published_figures
from heapwise.analysis.standing import are_many_questions
from heapwise.model import CitedFigure, Goal, Row
from heapwise.report.view import Group, View
from heapwise.wording.names import cell_words, quantity_name
from heapwise.wording.numbers import ends, scale_for, significant, times

TITLE, ORDER = "Goals and ratios", 29

VERDICTS = ("not met", "cannot tell here", "not measured", "met")


def build(view: View) -> dict[str, Any] | None:
    # With many questions each has them in its own tables.
    groups = [] if are_many_questions(view.evidence) else view.groups
    lines = [
        _line(group, row, figure)
        for group in groups
        if not group.experiment.is_of_programs
        for row in group.rows
        for figure in published_figures(group.experiment, row.subject, row.cell)
    ]
    result = view.result
    if not lines and not result.headlines and not result.goals:
        return None
    return {
        "lines": lines,
        "headlines": [line.partition(": ")[::2] for line in result.headlines],
        "goals": [_shown(goal) for goal in result.goals],
        "open_goals": [
            (goal.cell, [_shown(part) for part in _worst_first(goal)])
            for goal in result.goals
            if goal.parts
        ],
        "caveats": _caveats(result.goals),
    }


def _shown(goal: Goal) -> tuple[Goal, str, str]:
    return goal, _value(goal), _ends(goal)


def _worst_first(goal: Goal) -> list[Goal]:
    """Those that are not met before all others, each from the worst on."""
    sign = -1 if goal.aim.startswith("at most") else 1
    return sorted(
        goal.parts, key=lambda part: (VERDICTS.index(part.verdict), sign * (part.ratio or 0.0))
    )


def _caveats(goals: list[Goal]) -> list[str]:
    """Notes that several goals share, to be said once."""
    notes = Counter(goal.note for goal in goals if goal.note and not goal.parts)
    return [note for note, number in notes.items() if number > 1]


def _value(goal: Goal) -> str:
    """A ratio as a factor; the value of one subject alone as it is."""
    if goal.ratio is None:
        return ""
    return times(goal.ratio) if "/" in goal.of else significant(goal.ratio)


def _ends(goal: Goal) -> str:
    if goal.low is None or goal.high is None:
        return "" if goal.ratio is None else "no interval"
    return ends(goal.low, goal.high)


def _line(group: Group, row: Row, figure: CitedFigure) -> dict[str, str]:
    scale = scale_for([row.median, figure.value], row.unit)
    return {
        "experiment": group.experiment.id,
        "quantity": quantity_name(group.quantity),
        "cell": cell_words(group.parameters),
        "subject": row.subject,
        "unit": scale.label,
        "published": scale.number(figure.value),
        "machine": figure.machine,
        "report": figure.report,
        "ours": scale.number(row.median) if row.median is not None else "",
    }
