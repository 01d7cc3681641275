"""Writes down what a process of each experiment takes at default size, from the runs of stores.

What several runs have is taken from the newest run of the last store. Experiments that none has
keep their figure.
"""

from __future__ import annotations

from pathlib import Path

from heapwise.catalog import find_published
from heapwise.store.costs import REPORTS, USUAL, costs, usual_costs

FILE = Path(__file__).resolve().parents[1] / "python" / "heapwise" / "store" / USUAL
HEAD = """\
# Seconds of a process of each experiment, at default size and in the cells of published reports, on
# an AMD EPYC (family 25 or 26) with 2 cores.
# Made by `python -m workshop usual-costs STORE...`; do not edit.
"""


def write_usual_costs(stores: list[str]) -> None:
    tables = []
    for report in ("", *(each.name for each in find_published()[0])):
        seconds = usual_costs(report)
        for store in stores:
            seconds |= costs(store, smoke=False, report=report)
        name = f'{REPORTS}."{report}"' if report else "seconds"
        if not seconds:
            continue
        rows = [f'"{experiment}" = {seconds[experiment]:.3g}\n' for experiment in sorted(seconds)]
        tables.append(f"\n[{name}]\n{''.join(rows)}")
    FILE.write_text(HEAD + "".join(tables), encoding="utf-8")
