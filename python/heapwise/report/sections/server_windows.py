"""Windows of one server: its warm-up, and the mean of the rest."""

from __future__ import annotations

from typing import Any

from heapwise.report.view import View
from heapwise.study.server.server_windows import ServerWindows, server_windows
from heapwise.wording.numbers import scale_for
from heapwise.wording.windows import NOT_INDEPENDENT

TITLE, ORDER = "Windows of one server", 46


def build(view: View) -> dict[str, Any] | None:
    rows = [_cells(one) for one in server_windows(view.evidence)]
    return {"rows": rows, "note": NOT_INDEPENDENT} if rows else None


def _cells(one: ServerWindows) -> tuple[str, ...]:
    scale = scale_for([one.mean], one.unit)
    ends = (
        ""
        if one.low is None or one.high is None
        else f"{scale.number(one.low)} to {scale.number(one.high)}"
    )
    what = "p99" if one.unit == "s" else "throughput"
    return one.load, one.subject, f"{one.kept} of {one.windows}", what, scale.text(one.mean), ends
