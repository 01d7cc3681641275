"""Ways to manage memory: their table on this machine, time against memory, and budgets."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from markupsafe import Markup

from heapwise.analysis.provenance import provenance
from heapwise.analysis.summary.tree_headlines import GROUPS, group_place, has_curves
from heapwise.analysis.verdicts.gain import PEAK
from heapwise.document import Folded, Heading, Notice, Passage, Plot, Sentence
from heapwise.figures import plane
from heapwise.model import Experiment, Row, SubjectName, short_name
from heapwise.report.view import View
from heapwise.study.trees.program_tables import cited_machines, program_tables
from heapwise.study.trees.row_commands import commands_table
from heapwise.study.trees.tree_table import WALL, TreeTable, tree_tables
from heapwise.wording.numbers import show, significant

TITLE, ORDER = "Ways to manage memory", 23

MIB = 2.0**20

ABOUT = (
    "Small figures are 95 % intervals of the median. Rows of one kind stand together, the fastest "
    "first; rows of different kinds are not ranked against each other. A row that crashed, ran out "
    "of time, or printed a wrong sum has no figures and is in no average."
)
CITED = (
    "They are of other machines, systems and versions: compare ratios within a column, not seconds "
    "across columns."
)


def tell(view: View) -> list[Passage]:
    return [
        passage
        for experiment in view.run.experiments
        if experiment.is_of_programs and view.of(experiment)
        for passage in _of_experiment(view, experiment)
    ]


def picture(view: View) -> tuple[Markup, str] | None:
    """The first map of the run, for its first screen; None where nothing was measured."""
    for experiment in view.run.experiments:
        if experiment.is_of_programs:
            for table in tree_tables(experiment, view.result.rows):
                if figure := _figure(view, table):
                    return figure
    return None


def _of_experiment(view: View, experiment: Experiment) -> list[Passage]:
    tables = tree_tables(experiment, view.result.rows)
    passages: list[Passage] = [
        Heading(experiment.id),
        Sentence(experiment.question),
        *(Plot(*figure) for table in tables if (figure := _figure(view, table))),
    ]
    for table, shown in zip(tables, program_tables(experiment, view.result), strict=True):
        reports = "; ".join(dict.fromkeys(cited_machines(table).values()))
        cites = ", with published figures of other machines" if reports else ""
        folded = f"{table.words()}: every row{cites}"
        about = f"{ABOUT} Published figures: {reports}. {CITED}" if reports else ABOUT
        is_open = not has_curves(experiment)
        passages += [
            replace(shown, caption="", folded=folded, is_open=is_open, of_figures=True),
            Notice(about),
        ]
    rows = [
        provenance(view.evidence, (tables[0].cell(WALL), line.subject), line.subject)
        for line in tables[0].lines
        if not line.control
    ]
    about_rows = "What each row is: command, version, build, remarks"
    return [
        *passages,
        Folded(about_rows, [commands_table(rows)]),
        Sentence(f"What it does not show. {experiment.not_shown}"),
    ]


def _figure(view: View, table: TreeTable) -> tuple[Markup, str] | None:
    """The map of all rows; of an experiment with budgets the curve of each runtime."""
    trails = _trails(view, table)
    if len(trails) < 2:
        return None
    curves = has_curves(table.experiment)
    kinds = [] if curves else list(GROUPS.values())
    if curves:
        points = [replace(trail, kind=0) for trail in trails if len(trail.marks) == 1]
        joined = (trail for trail in trails if len(trail.marks) > 1)
        trails = points + [replace(trail, kind=kind) for kind, trail in enumerate(joined, 1)]
    title = f"Time against peak memory, {table.words()}"
    drawn = plane.draw(trails, kinds, title, (partial(show, unit="s"), _mebibytes))
    caption = (
        "Medians of whole processes with 95 % intervals, both axes logarithmic. Down and "
        "left is better. "
    )
    caption += (
        "One curve for each runtime, its settings joined from lean (the ring) to generous; "
        "a runtime without such a setting is a point."
        if curves
        else "Kinds are told apart by colour and are not ranked against each other."
    )
    left_out = [line.subject for line in table.lines if line.trouble]
    if left_out:
        caption += f" Without a point: {', '.join(left_out)}."
    return Markup(drawn), f"{title}. {caption}"


def _trails(view: View, table: TreeTable) -> list[plane.Trail]:
    """Points of one runtime in the order in which the experiment declares them."""
    order = {spec.name: place for place, spec in enumerate(table.experiment.subjects)}
    found: dict[str, plane.Trail] = {}
    lines = [
        line
        for line in table.lines
        if not line.control and line.median(WALL) is not None and line.median(PEAK)
    ]
    for line in sorted(lines, key=lambda line: order[line.spec.name]):
        name = SubjectName.parse(line.subject).curve
        kind = group_place(line.spec.group)
        trail = found.setdefault(name, plane.Trail(short_name(name), [], kind))
        trail.marks.append(
            plane.Mark(
                short_name(line.subject), _triple(line.rows[WALL]), _triple(line.rows[PEAK], MIB)
            )
        )
    return list(found.values())


def _triple(row: Row, factor: float = 1.0) -> plane.Extent:
    middle = row.median or 0.0
    low, high = row.ci_low or middle, row.ci_high or middle
    return low / factor, middle / factor, high / factor


def _mebibytes(number: float) -> str:
    return f"{significant(number)} MiB"
