"""The page of a fleet run: one row for each machine."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from heapwise import __version__
from heapwise.figures.svg import PALETTE
from heapwise.model.by_machine import ByMachine
from heapwise.report.page import environment


def fleet_page(
    fleet: str, command: str, tables: Sequence[ByMachine], failed: Sequence[tuple[str, str]]
) -> str:
    """One file that loads nothing from the network. failed: (machine, why) without a result."""
    templates = environment()
    assert templates.loader is not None
    style = Markup(templates.loader.get_source(templates, "style.css")[0])
    return templates.get_template("fleet.html").render(
        fleet=fleet,
        command=command,
        tables=tables,
        failed=failed,
        style=style,
        palette=PALETTE,
        version=__version__,
    )
