"""A program experiment as a table: a line for each row, in groups that are not ranked together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median_high

from heapwise.analysis.summary.tree_headlines import GROUPS, known_group
from heapwise.analysis.verdicts.gain import PEAK
from heapwise.model import Cell, Experiment, Row, Settings, SubjectSpec, control_name
from heapwise.wording.names import cell_words, spaced
from heapwise.wording.numbers import Scale, scale_for

WALL = "wall"


@dataclass(frozen=True)
class TreeLine:
    """``rows``: quantity to what was measured of it. ``trouble``: why there are no figures."""

    spec: SubjectSpec
    rows: dict[str, Row] = field(default_factory=dict)
    control: bool = False

    @property
    def subject(self) -> str:
        return control_name(self.spec.name) if self.control else self.spec.name

    @property
    def trouble(self) -> str:
        """What happened, or how to get it. Whose work was wrong once has no figures at all."""
        bad = next((row for row in self.rows.values() if row.status != "ok"), None)
        if bad is None:
            wall = self.rows.get(WALL)
            if wall is None:
                return "no time was measured"
            return wall.note if wall.median is None else ""
        words = bad.note or spaced(bad.status)
        return f"missing: {words}" if bad.status == "missing" else words

    def median(self, quantity: str) -> float | None:
        row = self.rows.get(quantity)
        return None if row is None or self.trouble else row.median


@dataclass(frozen=True)
class TreeTable:
    """The experiment at certain settings. ``groups``: title to its lines, the fastest first."""

    experiment: Experiment
    parameters: Settings
    groups: dict[str, list[TreeLine]]

    @property
    def lines(self) -> list[TreeLine]:
        return [line for lines in self.groups.values() for line in lines]

    def scales(self, quantities: Iterable[str]) -> dict[str, Scale]:
        """For those that some row has, the unit in which the middle row reads well."""
        units = {quantity.name: quantity.unit for quantity in self.experiment.quantities}
        values = {
            q: [v for line in self.lines if (v := line.median(q)) is not None] for q in quantities
        }
        return {
            q: scale_for([median_high(found)], units[q]) for q, found in values.items() if found
        }

    def cell(self, quantity: str) -> Cell:
        return Cell(self.experiment.id, self.parameters, quantity)

    def words(self) -> str:
        """``depth 21``."""
        return cell_words(self.parameters)


def tree_tables(experiment: Experiment, rows: Iterable[Row]) -> list[TreeTable]:
    """One for all rows of the same settings, in the order of the rows."""
    by_settings: dict[Settings, dict[str, dict[str, Row]]] = {}
    for row in rows:
        if row.experiment == experiment.id:
            subjects = by_settings.setdefault(row.parameters, {})
            subjects.setdefault(row.subject, {})[row.quantity] = row
    return [
        TreeTable(experiment, parameters, _grouped(experiment, subjects))
        for parameters, subjects in by_settings.items()
    ]


def _grouped(
    experiment: Experiment, subjects: dict[str, dict[str, Row]]
) -> dict[str, list[TreeLine]]:
    lines = []
    for name, rows in subjects.items():
        if spec := experiment.spec(name):
            lines.append(TreeLine(spec, rows, control=name != spec.name))
    lines.sort(key=_place)
    found = {
        title: [line for line in lines if known_group(line.spec.group) == group]
        for group, title in GROUPS.items()
    }
    return {title: members for title, members in found.items() if members}


def _place(line: TreeLine) -> tuple[bool, bool, float, float]:
    """The fastest first, then what failed, then what is not here."""
    missing = not line.spec.available
    return (missing, bool(line.trouble), line.median(WALL) or 0.0, line.median(PEAK) or 0.0)
