"""The page of a fleet run: one row for each machine."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.document import Notice
from heapwise.model.by_machine import ByMachine
from heapwise.report.page import told_page
from heapwise.study.fleet.machine_tables import machine_passages


def fleet_page(
    fleet: str, command: str, tables: Sequence[ByMachine], failed: Sequence[tuple[str, str]]
) -> str:
    """One file that loads nothing from the network. failed: (machine, why) without a result."""
    told = [Notice(command), *machine_passages(tables, failed)]
    name = f"fleet run {fleet}"
    return told_page(name, "machines", f"By machine: {name}", told)
