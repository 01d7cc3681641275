"""``heapwise list``: the experiments that can be run here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask import completion
from heapwise.cli.frame.ask.options import JsonOption, QuietOption
from heapwise.cli.frame.tell.console import Console, error_line

if TYPE_CHECKING:
    from heapwise.model import Experiment
    from heapwise.model.json_value import Json


def register(app: typer.Typer) -> None:
    app.command("list")(list_experiments)


def list_experiments(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            autocompletion=completion.experiments,
            help="Ids, families or patterns. [all]",
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """List the experiments, each with its question.

    \b
    heapwise list
    heapwise list pool
    heapwise list --json
    """
    from heapwise.catalog import broken_experiments, choose_experiments, find_experiments

    console = Console(quiet, json)
    experiments = choose_experiments(ids) if ids else find_experiments()
    if json:
        console.json([_document(experiment) for experiment in experiments])
    else:
        width = max((len(experiment.id) for experiment in experiments), default=0)
        for experiment in experiments:
            console.result(f"{experiment.id.ljust(width)}  {experiment.question}")
    for broken in broken_experiments():
        error_line(f"{broken.path} is left out: {broken.reason}")
    return 0


def _document(experiment: Experiment) -> dict[str, Json]:
    """With the unit of the first quantity at the top, where scripts look for it."""
    import msgspec

    document: dict[str, Json] = msgspec.to_builtins(experiment)
    return {**document, "unit": experiment.unit, "better": experiment.better}
