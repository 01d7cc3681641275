"""The seed document's figures beside ours: another machine, the same question."""

from __future__ import annotations

from typing import Any

from heapwise.analysis.units import scale_for
from heapwise.report.view import View
from heapwise.report.words import quantity_name

TITLE, ORDER = "Beside the seed", 40


def build(view: View) -> dict[str, Any] | None:
    lines = []
    for group in view.groups:
        for row in group.rows:
            if row.seed_value is None:
                continue
            scale = scale_for([row.median, row.seed_value], row.unit)
            cell = ", ".join(f"{k} {v}" for k, v in group.cell.items())
            lines.append({
                "experiment": group.experiment.id, "quantity": quantity_name(group.quantity),
                "cell": cell, "subject": row.subject, "unit": scale.label,
                "ours": scale.number(row.median) if row.median is not None else "",
                "seed": scale.number(row.seed_value)})
    machines = sorted({f.machine for e in view.stored.run.experiments for f in e.seed_figures})
    if not lines and not view.result.headlines:
        return None
    return {"lines": lines, "machines": machines, "headlines": view.result.headlines}
