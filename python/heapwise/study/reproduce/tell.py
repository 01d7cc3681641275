"""What is told about a reproduced report: its figures beside ours, its conclusions judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from heapwise.document import (
    Labelled,
    Notice,
    Passage,
    Sentence,
    TableCell,
    TextOrCell,
    TextTable,
    plain_table,
    table_cell,
    under,
)
from heapwise.model import Picture, PublishedFigure, PublishedReport, PublishedRow
from heapwise.study.reproduce.author import AUTHORS_PROGRAM
from heapwise.study.reproduce.judged import (
    VERDICTS,
    JudgedConclusion,
    counts_of,
    judged_lines,
    source_text,
    statement_text,
)
from heapwise.study.reproduce.ours import Ours
from heapwise.study.reproduce.reproduced import Reproduced, ReproducedTable
from heapwise.study.trees.row_commands import commands_table
from heapwise.wording.lists import counted
from heapwise.wording.names import setting_value, spaced
from heapwise.wording.numbers import ends, significant

NOTHING_HERE = "–"
ABSENT = "-"
"""The same on a terminal."""

FEW = 2
"""Columns of a table whose figures have their intervals on a terminal, too."""

NAMED = 5
"""Records of the author's program that answer no figure, named at most."""

MARKS = {
    "confirmed": "better",
    "refuted": "worse",
    "as published": "better",
    "another size": "worse",
}

JUDGED = (
    "The verdict says whether a conclusion holds here, the size whether our ratio lies within 1.5 "
    "times the published one. A ratio is judged by its 99 % interval and the noise floor, a value "
    "by its 95 % interval. In the tables, small figures and those in brackets are 95 % intervals."
)

FACTS = ("processor", "caches", "memory", "system", "compiler", "flags", "versions")


def counts_words(counts: Iterable[tuple[str, int]]) -> str:
    """``3 confirmed, 1 refuted``."""
    return ", ".join(f"{number} {word}" for word, number in counts)


def author_words(found: Reproduced) -> str:
    """The files of the author's program, and how its figures judge the conclusions; "" without
    them."""
    if not found.author_files:
        return ""
    verdicts = counts_of(found.by_author, lambda judged: judged.verdict, VERDICTS)
    counts = counts_words(item for item in verdicts.items() if item[1])
    words = (
        f"The author's program ({counted(len(found.author_files), 'file')}) has figures for "
        f"{len(found.by_author)} of {counted(len(found.conclusions), 'conclusion')}"
    )
    words += f": {counts}." if counts else "."
    if found.unused:
        more = f" and {len(found.unused) - NAMED} more" if len(found.unused) > NAMED else ""
        names = ", ".join(found.unused[:NAMED])
        words += f" The report has no figure for {names}{more}."
    return words


def changes_words(found: Reproduced) -> str:
    """ "" if the run has the settings of the report."""
    words = [f"{spaced(name)} {setting_value(value)}" for name, value in found.changes.items()]
    return f"Measured with {', '.join(words)} instead of the report's." if words else ""


def runs_words(found: Reproduced) -> str:
    """Which experiments are from which run; "" if all are from one."""
    by_run: dict[str, list[str]] = {}
    for experiment, run in found.run_of.items():
        by_run.setdefault(run, []).append(experiment)
    parts = [f"run {run}: {', '.join(sorted(names))}" for run, names in by_run.items()]
    return f"Each experiment is from its quieter run. {'; '.join(parts)}." if parts else ""


def summary(found: Reproduced) -> list[Labelled]:
    """How many conclusions hold, and what has to be known of the figures."""
    conclusions = counted(len(found.conclusions), "conclusion")
    entries = {
        "Count": f"{conclusions}: {counts_words(found.counts.items())}",
        "Size": counts_words(found.size_counts.items()),
        "Changes": changes_words(found),
        "Author": author_words(found),
        "Runs": runs_words(found),
    }
    return [Labelled(label, words, folds=False) for label, words in entries.items()]


def report_passages(
    found: Reproduced, draw: Callable[[Picture], Passage], folded: str = ""
) -> list[Passage]:
    """The report, what became of its conclusions, and its figures beside ours. draw: a picture of
    the report. folded: the words under which its machines can be opened."""
    report = found.report
    passages: list[Passage] = [
        Sentence(f"{report.title}. {report.origin.rstrip('.')}.", report.link),
        Sentence(report.about),
        *summary(found),
        *under("Conclusions", [conclusion_table(found), Notice(JUDGED)]),
    ]
    for each in found.tables:
        machine = report.machines[each.table.machine].title
        is_cited = any(figure.value is not None for figure in each.table.figures)
        cited = f"Published figures measured on: {machine}." if is_cited else ""
        drawn = [draw(picture) for picture in report.pictures if picture.table == each.table.name]
        figures = [Notice(cited), *drawn, *figure_passages(each)]
        passages += under(each.table.title, figures)
    passages += under("Commands, versions and builds", [commands_table(found.programs)])
    return [*passages, *(replace(table, folded=folded) for table in source_tables(report))]


def conclusion_table(found: Reproduced) -> TextTable:
    rows: list[list[TextOrCell]] = []
    for judged in found.conclusions:
        conclusion, author = judged.conclusion, judged.author
        says = f"{conclusion.says} ({source_text(judged)})"
        verdict, size = (_marked(word, word) for word in (judged.verdict, judged.size))
        theirs = _marked(author_text(author), author.verdict) if author else ""
        rows.append(
            [verdict, size, conclusion.topic, says, "; ".join(judged_lines(judged)), theirs]
        )
    theirs = AUTHORS_PROGRAM if found.author_files else ""
    heads = ["verdict", "size", "topic", "the report concludes", "here", theirs]
    return plain_table([heads, *rows])


def _marked(text: str, verdict: str) -> TableCell:
    return table_cell(text, mark=MARKS.get(verdict, "unsure" if verdict else ""))


def author_text(judged: JudgedConclusion) -> str:
    """``confirmed: malloc / pool >= 1: 3.1, 3.1 to 3.1``."""
    return f"{judged.verdict}: {'; '.join(map(statement_text, judged.parts))}"


def figure_passages(each: ReproducedTable, *, with_title: bool = False) -> list[Passage]:
    """The table, and why figures of ours are not here. with_title: above the table."""
    units = {figure.unit for figure in each.table.figures}
    unit = f", {units.pop()}" if len(units) == 1 else ""
    caption = f"{each.table.title}{unit}" if with_title else ""
    notes = dict.fromkeys(
        own.note for ours in each.ours for own in ours if own.value is None and own.note
    )
    return [
        TextTable(_heads(each), list(_rows(each)), caption, of_figures=True),
        *(Notice(f"Not here: {note}") for note in notes),
    ]


def source_tables(report: PublishedReport) -> list[TextTable]:
    """The machines of the report."""
    found = []
    for machine in report.machines.values():
        values = {name: " ".join(getattr(machine, name).split()) for name in FACTS}
        rows = [[name.capitalize(), value] for name, value in values.items() if value]
        found.append(plain_table([["", f"of the report: {machine.title}"], *rows]))
    return found


def _heads(each: ReproducedTable) -> list[TableCell]:
    """For each column of the report its figure and ours; ours alone, where it has none at all."""
    shown = each.table
    several = len(shown.columns) > 1
    heads = [table_cell(shown.rows_are, f"  {shown.rows_are}")]
    for at, name in enumerate(shown.columns):
        title = ", ".join(word for word in dict.fromkeys((name, _unit(each, at))) if word)
        if not _is_published(each, at):
            heads.append(table_cell(title, name))
            continue
        published = f"{title}: published" if title else "published"
        heads += [table_cell(published, name if several else "published"), table_cell("here")]
    has_notes = any(row.note for row in shown.rows)
    return [*heads, table_cell("note of the report" if has_notes else "", "")]


def _rows(each: ReproducedTable) -> Iterator[Sequence[TableCell]]:
    units = {figure.unit for figure in each.table.figures}
    for row, ours, author in zip(each.table.rows, each.ours, each.by_author, strict=True):
        unit = f", {row.figures[0].unit}" if len(units) > 1 and row.figures[0].unit else ""
        title = table_cell(row.title, f"  {row.title}{unit}")
        yield [title, *_figures(each, row, ours), table_cell(row.note, "")]
        if any(figure.value is not None for figure in author):
            title = table_cell(f"{row.title}, {AUTHORS_PROGRAM}", f"    {AUTHORS_PROGRAM}")
            yield [title, *_figures(each, row, author, is_author=True), table_cell("")]


def _figures(
    each: ReproducedTable, row: PublishedRow, ours: Sequence[Ours], *, is_author: bool = False
) -> Iterator[TableCell]:
    """Where rows of a column have units of their own, the figures have them, too. is_author: the
    figures are those of the author's program, below the row that has the published ones."""
    with_ends = len(each.table.columns) <= FEW or all(
        figure.value is None for figure in each.table.figures
    )
    for at, (figure, own) in enumerate(zip(row.figures, ours, strict=True)):
        unit = f" {figure.unit}" if figure.unit and not _unit(each, at) else ""
        if _is_published(each, at):
            text = f"{figure.text}{unit}" if figure.text else ""
            yield table_cell("") if is_author else table_cell(text, figure.text)
        is_empty = is_author and own.value is None
        yield table_cell("") if is_empty else _own(own, figure, unit, with_ends=with_ends)


def _own(own: Ours, figure: PublishedFigure, unit: str, *, with_ends: bool) -> TableCell:
    if own.value is None:
        return table_cell(NOTHING_HERE if own.note or figure.ours else "", ABSENT)
    text = significant(own.value)
    interval = "" if own.low is None or own.high is None else ends(own.low, own.high)
    short = f"{text} ({interval})" if interval and with_ends else text
    return table_cell(f"{text}{unit}", short, interval)


def _unit(each: ReproducedTable, at: int) -> str:
    """The unit of all figures of a column; "" if they have several."""
    units = {row.figures[at].unit for row in each.table.rows}
    return units.pop() if len(units) == 1 else ""


def _is_published(each: ReproducedTable, at: int) -> bool:
    return any(row.figures[at].value is not None for row in each.table.rows)
