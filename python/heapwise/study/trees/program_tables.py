"""The rows of a program experiment: time beside memory, a block for each kind."""

from __future__ import annotations

from heapwise.document import TextTable, plain_table
from heapwise.model import Experiment, Result
from heapwise.study.trees.tree_table import WALL, TreeLine, TreeTable, tree_tables
from heapwise.wording.numbers import Scale, times
from heapwise.wording.ratios import ratio_ends

SHOWN = {
    "wall": "wall",
    "user": "user",
    "system": "system",
    "peak_resident": "peak",
    "collections": "collections",
    "longest_pause": "longest pause",
}


def program_tables(experiment: Experiment, result: Result) -> list[TextTable]:
    return [_table(table) for table in tree_tables(experiment, result.rows)]


def _table(table: TreeTable) -> TextTable:
    scales = table.scales(SHOWN)
    quantities = list(scales)
    base = table.experiment.baseline
    head = ["", *(f"{SHOWN[q]} {scales[q].label}".rstrip() for q in quantities), f"vs {base}"]
    lines = [head]
    for title, members in table.groups.items():
        lines.append([f"{title}:"])
        lines += [_line(line, quantities, scales) for line in members]
    return plain_table(lines, f"{table.experiment.id}  {table.words()}")


def _line(line: TreeLine, quantities: list[str], scales: dict[str, Scale]) -> list[str]:
    name = f"  {line.subject}"
    if trouble := line.trouble:
        return [name, trouble]
    words = [
        "-" if (value := line.median(q)) is None else scales[q].number(value) for q in quantities
    ]
    return [name, *words, _ratio(line)]


def _ratio(line: TreeLine) -> str:
    row = line.rows.get(WALL)
    if row is None or row.ratio is None:
        return "baseline" if row and row.baseline else "-"
    return f"{times(row.ratio)}  {ratio_ends(row)}".rstrip()
