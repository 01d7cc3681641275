"""One sentence, one short table and how they were measured, to be pasted into a pull request."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from heapwise.analysis.summary.speed import speed_quantity
from heapwise.document.markdown import table
from heapwise.model import Result, Row, SubjectName
from heapwise.report.formats.markdown import plain_text
from heapwise.report.gate import step_summary
from heapwise.report.view import Group, View
from heapwise.wording.lists import counted
from heapwise.wording.names import cell_words, quantity_name
from heapwise.wording.numbers import scale_for
from heapwise.wording.ratios import interval, relation, with_interval

NAME, SUFFIX, MIME = "pull-request", "md", "text/markdown"
ABOUT = "one sentence and one short table for a pull request"

MORE_ROUNDS = re.compile(r"\s*More rounds: heapwise .*$", re.DOTALL)
"""An advice to the one who measured, and not to the reader."""


def write(view: View) -> str:
    result = view.result
    if result.gate is not None:
        return "\n".join([step_summary.write(result.gate), *_how(view, result)]) + "\n"
    lines = [f"**{plain_text(MORE_ROUNDS.sub('', result.advice))}**", ""]
    # Of programs, the time that the sentence is of. Other runs have one table for each quantity.
    shown = (speed_quantity(result.rows), "peak_memory")
    groups = view.groups
    if view.is_compare:
        chosen = [group for group in groups if group.quantity in shown]
        groups = sorted(chosen, key=lambda group: shown.index(group.quantity))
    for cell in dict.fromkeys(group.parameters for group in groups):
        together = [group for group in groups if group.parameters == cell]
        if words := cell_words(cell):
            lines += [plain_text(words), ""]
        for part in [together] if view.is_compare else [[group] for group in together]:
            lines += [*_table(part), ""]
    return "\n".join([*lines, *_how(view, result)]) + "\n"


def _table(groups: Sequence[Group]) -> list[str]:
    """A row for each subject; of each quantity its figure, and how it compares."""
    names = list(dict.fromkeys(row.subject for row in _rows(groups[0])))
    head, rows = [""], {name: [name] for name in names}
    for group in groups:
        baseline = group.experiment.baseline
        head += [quantity_name(group.quantity), f"vs {baseline}"]
        scale = scale_for([row.median for row in _rows(group)], group.unit)
        found = {row.subject: row for row in _rows(group)}
        for name, words in rows.items():
            row = found.get(name)
            if row is None or row.median is None:
                words += ["-", ""]
            else:
                words += [scale.text(row.median), _relation(row)]
    return table(head, list(rows.values()), plain_text)


def _rows(group: Group) -> list[Row]:
    return [row for row in group.rows if not SubjectName.parse(row.subject).control]


def _relation(row: Row) -> str:
    if row.baseline:
        return "baseline"
    return with_interval(relation(row), interval(row))


def _how(view: View, result: Result) -> list[str]:
    run, machine = view.run, view.run.machine
    rounds = max((row.n for row in result.rows), default=0)
    titles = [s.title for s in run.plan.subjects if not s.control]
    facts = [
        f"{machine.cpu}, {counted(machine.cores, 'core')}",
        machine.distribution,
        machine.kernel,
        *titles,
        f"Heapwise {run.version}",
        f"up to {counted(rounds, 'round')}, 95 % intervals",
        f"trust: {result.trust.verdict}",
    ]
    command = shlex.join(["heapwise", *run.command_line[1:]])
    fence = max(["```", *(f"{marks}`" for marks in re.findall("`+", command))], key=len)
    return [
        f"<sub>{plain_text('; '.join(filter(None, facts)))}</sub>",
        "",
        f"{fence}sh",
        command,
        fence,
    ]
