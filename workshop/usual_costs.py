"""Writes down what a process of each experiment takes at default size, from the runs of stores.

What several runs have is taken from the newest run of the last store. Experiments that none has
keep their figure.
"""

from __future__ import annotations

from pathlib import Path

from heapwise.store.costs import USUAL, costs, usual_costs

FILE = Path(__file__).resolve().parents[1] / "python" / "heapwise" / "store" / USUAL
HEAD = """\
# Seconds of a process of each experiment at default size, on an AMD EPYC (family 26) with 2 cores.
# Made by `python -m workshop usual-costs STORE...`; do not edit.

[seconds]
"""


def write_usual_costs(stores: list[str]) -> None:
    seconds = usual_costs() if FILE.is_file() else {}
    for store in stores:
        seconds |= costs(store, smoke=False)
    lines = [f'"{experiment}" = {seconds[experiment]:.3g}\n' for experiment in sorted(seconds)]
    FILE.write_text(HEAD + "".join(lines), encoding="utf-8")
