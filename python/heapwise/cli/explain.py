"""``heapwise explain``: what an id of an error, a check or an experiment means, and where in the
program the faults of a report are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask import completion
from heapwise.cli.frame.ask.options import JsonOption
from heapwise.cli.frame.tell.console import Console
from heapwise.errors import CATALOGUE, Entry, Problem
from heapwise.wording.suggest import did_you_mean

if TYPE_CHECKING:
    from heapwise.model import SubjectSpec


def register(app: typer.Typer) -> None:
    app.command("explain")(explain)


def explain(
    id: Annotated[
        str,
        typer.Argument(
            metavar="ID|FILE",
            autocompletion=completion.explained_ids,
            help="E021, V5, pool/bulk ..., or a file of HEAPWISE_MALLOC_REPORT.",
        ),
    ],
    json: JsonOption = False,
) -> int:
    """Say what an id means, or where the faults of a report are.

    \b
    heapwise explain E021         an error
    heapwise explain V5           a check of the Trust line
    heapwise explain pool/bulk    an experiment: its question, and what it does not show
    heapwise explain faults.json  faults that the heap found (HEAPWISE_MALLOC_REPORT=faults.json)
    """
    console = Console(as_json=json)
    if entry := CATALOGUE.get(id.upper()):
        return _error(console, entry)
    if check := _checks().get(id.upper()):
        return _text(console, id.upper(), check)
    if Path(id).is_file():
        return _faults(console, Path(id))
    return _experiment(console, id)


def _error(console: Console, entry: Entry) -> int:
    if console.as_json:
        console.json(entry)
        return 0
    console.result(f"{entry.id}  {entry.title}   (exit code {int(entry.exit)})")
    console.result(f"  why: {entry.why}")
    console.result(f"  do:  {entry.do}")
    return 0


def _checks() -> dict[str, str]:
    """Id of each check to its explanation: the docstring of its file in ``heapwise.trust``."""
    import inspect

    try:
        from heapwise.trust.judge import check_modules
    except ImportError:
        return {}
    return {module.ID: inspect.getdoc(module) or module.TITLE for module in check_modules()}


def _text(console: Console, id: str, text: str) -> int:
    if console.as_json:
        console.json({"id": id, "text": text})
    else:
        console.result(f"{id}  {text}")
    return 0


def _faults(console: Console, file: Path) -> int:
    import msgspec

    from heapwise.cli.frame.tell.fault_text import fault_lines
    from heapwise.trace.fault_reports import named_calls, read_fault_reports

    try:
        reports = read_fault_reports(file)
    except (OSError, msgspec.MsgspecError) as error:
        raise Problem(
            "E015",
            f"{file} is not a file of reports of the heap: {error}",
            do="HEAPWISE_MALLOC_REPORT=faults.json, with libheapwise-malloc-guarded.so preloaded",
        ) from error
    if console.as_json:
        console.json([{"report": each, "calls": list(named_calls(each))} for each in reports])
        return 0
    for report in reports:
        console.result("\n".join(fault_lines(report)))
    return 0


def _experiment(console: Console, id: str) -> int:
    from heapwise.catalog import find_experiments

    experiments = {found.id: found for found in find_experiments()}
    if id not in experiments:
        words = [*CATALOGUE, *_checks(), *experiments]
        raise Problem(
            "E003",
            f"'{id}' is not the id of an error, a check or an experiment{did_you_mean(id, words)}",
            do="heapwise list   for experiments; ids of errors and checks are in what was printed",
        )
    experiment = experiments[id]
    if console.as_json:
        console.json(experiment)
        return 0
    console.result(f"{experiment.id}  {experiment.question}")
    console.result(f"  isolates:     {experiment.isolates}")
    console.result(f"  not shown:    {experiment.not_shown}")
    for quantity in experiment.quantities:
        console.result(
            f"  quantity:     {quantity.name} in {quantity.unit}, {quantity.better} is better"
            f"  {quantity.meaning}"
        )
    for parameter in experiment.parameters:
        values = ", ".join(str(value) for value in parameter.default)
        console.result(f"  parameter:    {parameter.name} = {values}  {parameter.meaning}")
    for subject in experiment.subjects:
        console.result(f"  subject:      {subject.name}  {_said(subject)}")
    return 0


def _said(subject: SubjectSpec) -> str:
    """Its title, what kind it is and what to know of it; or how to get it."""
    kind = f" ({subject.group})" if subject.group else ""
    more = f"missing: {subject.reason}" if not subject.available else subject.note
    return f"{subject.title}{kind}{f'; {more}' if more else ''}"
