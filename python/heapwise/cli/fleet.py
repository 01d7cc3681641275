"""``heapwise fleet``: machines that measure the same plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heapwise.cli.frame.ask.options import JsonOption, QuietOption, StoreOption
from heapwise.cli.frame.tell.console import Console
from heapwise.errors import Exit

FleetId = Annotated[str, typer.Argument(metavar="[RUN]", help="A fleet run's id.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    group.callback()(fleet)
    group.command("check", short_help="Ask each machine what it is and has.")(check)
    group.command("status", short_help="Say how far a fleet run is.")(status)
    group.command("collect", short_help="Go on with a fleet run and bring its results.")(collect)
    app.add_typer(group, name="fleet", short_help="Measure one plan on many machines.")


def fleet() -> None:
    """The same plan on many machines. Verbs that measure take --fleet hosts.toml.

    \b
    heapwise compare --fleet hosts.toml -- ./server --bench
    heapwise fleet check hosts.toml
    heapwise fleet collect
    """


def check(
    hosts: Annotated[
        Path,
        typer.Argument(
            metavar="HOSTS.TOML", help="The file that lists the machines.", show_default=False
        ),
    ],
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Ask each machine: is it reached, its versions, the builds of its peers, its doctor.

    \b
    heapwise fleet check hosts.toml
    heapwise fleet check hosts.toml --json
    heapwise fleet check laboratory.toml --quiet

    Heapwise itself is sent to machines that are reached by ssh. Nothing is measured.
    """
    from heapwise.cli.frame.ask.fleet_form import check_lines
    from heapwise.fleet.hosts import read_hosts
    from heapwise.fleet.probe import probe_hosts

    console = Console(quiet, json)
    found = probe_hosts(read_hosts(hosts))
    for line in check_lines(found):
        console.result(line)
    if json:
        console.json(found)
    return int(
        Exit.MISSING_TOOL if any("error" in facts for facts in found.values()) else Exit.DONE
    )


def status(
    id: FleetId = "last",
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Say which machines of a fleet run are complete. It reads files and asks no machine.

    \b
    heapwise fleet status
    heapwise fleet status f3a9c1
    heapwise fleet status --json
    """
    from heapwise.fleet.fleet_file import find_fleet
    from heapwise.store import find_store

    console = Console(quiet, json)
    place = find_store(store)
    file = find_fleet(place, id)
    found = file.read()
    for run in file.mended_runs(place):
        console.say(f"Mended       {run}: a client had died while it replaced it")
    console.result(f"{found.id}  {found.created}  heapwise {' '.join(found.words)}")
    for name, state in found.machines.items():
        message = f"  {state.message}" if state.message else ""
        console.result(f"{name}: {state.state}, started {state.attempts} times{message}")
    if json:
        console.json(found)
    return 0


def collect(
    id: FleetId = "last",
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Go on with a fleet run: machines that are complete hand back, the others measure on.

    \b
    heapwise fleet collect
    heapwise fleet collect f3a9c1
    heapwise fleet collect f3a9c1 --json
    """
    from heapwise.cli.frame.ask.fleet_form import collect_fleet
    from heapwise.fleet.fleet_file import find_fleet, reopened
    from heapwise.store import find_store

    place = find_store(store)
    return collect_fleet(reopened(find_fleet(place, id)), place, Console(quiet, json))
