"""The lines of the report binary-trees: a title, the command, three times; and other quantities.

One block for each row of a program experiment, medians of whole processes in seconds; peak memory
follows on the same line. A row without figures says why in their place.
"""

from __future__ import annotations

import shlex

from heapwise.report.view import View
from heapwise.study.trees.tree_table import TreeLine, TreeTable, tree_tables

NAME, SUFFIX, MIME = "binary-trees", "txt", "text/plain"
ABOUT = "the blocks of the report binary-trees: title, command, times, for runs of the trees"

TIMES = {"wall": "real", "user": "user", "system": "sys"}
MIB = 2.0**20


def write(view: View) -> str:
    run, result = view.run, view.result
    blocks = [
        block
        for experiment in run.experiments
        if experiment.is_of_programs
        for table in tree_tables(experiment, result.rows)
        for title, lines in table.groups.items()
        for block in (
            f"## {table.words()}: {title}\n",
            *(_block(table, line) for line in lines if not line.control),
        )
    ]
    return "\n".join([f"# heapwise {run.version} run {run.id}, {run.created}\n", *blocks]) + "\n"


def _block(table: TreeTable, line: TreeLine) -> str:
    settings = [f"{name}={value}" for name, value in line.spec.environment.items()]
    depth = str(table.parameters.get("depth", ""))
    words = [word.replace("{depth}", depth) for word in line.spec.command]
    head = f"# {line.spec.title} ({line.subject})\n{' '.join([*settings, shlex.join(words)])}\n"
    return f"{head}{line.trouble or _figures(line)}\n"


def _figures(line: TreeLine) -> str:
    words = [
        f"{value:.2f} {theirs}"
        for ours, theirs in TIMES.items()
        if (value := line.median(ours)) is not None
    ]
    peak = line.median("peak_resident")
    return " ".join([*words, *([f"{peak / MIB:.1f} MiB"] if peak else [])])
