"""``heapwise list``: what the laboratory can measure here."""

from __future__ import annotations

from typing import Annotated

import typer

from heapwise.cli.frame.console import Console, error_line
from heapwise.cli.frame.options import DebugOption, JsonOption, QuietOption


def register(app: typer.Typer) -> None:
    app.command("list")(list_experiments)


def list_experiments(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Ids or patterns; all if none.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> int:
    """List the experiments, each with the question that it answers.

    \b
    heapwise list
    heapwise list 'pool/*'
    heapwise list --json
    """
    from heapwise.catalog import broken_experiments, choose_experiments

    console = Console(quiet, json)
    experiments = choose_experiments(ids or []) if ids else _all()
    if json:
        console.json([_document(experiment) for experiment in experiments])
    else:
        width = max((len(experiment.id) for experiment in experiments), default=0)
        for experiment in experiments:
            console.result(f"{experiment.id.ljust(width)}  {experiment.question}")
    for broken in broken_experiments():
        error_line(f"{broken.path} is left out: {broken.reason}")
    return 0


def _all() -> list:  # type: ignore[type-arg]
    from heapwise.catalog import find_experiments

    return list(find_experiments())


def _document(experiment: object) -> dict[str, object]:
    import msgspec

    document: dict[str, object] = msgspec.to_builtins(experiment)
    first = document["quantities"][0]  # type: ignore[index]
    return {**document, "unit": first["unit"], "better": first["better"]}
