"""The file of DHAT's viewer (dh_view.html), version 2, without lifetimes and accesses."""

from __future__ import annotations

import json
from typing import Any

from heapwise.trace.call_stacks import CallStack
from heapwise.trace.file import Trace


def dhat(trace: Trace, stacks: list[CallStack]) -> bytes:
    """Program points are call stacks. A stack that is empty is of a caller that is not known."""
    frames = ["[root]"]
    numbers: dict[str, int] = {}
    points: dict[tuple[int, ...], dict[str, Any]] = {}
    for stack in stacks:
        places = [f"{place.offset:#x}: {place}" for place in reversed(stack.places)] or ["unknown"]
        for place in places:
            if place not in numbers:
                numbers[place] = len(frames)
                frames.append(place)
        key = tuple(numbers[place] for place in places)
        point = points.setdefault(key, {"tb": 0, "tbk": 0, "fs": list(key)})
        point["tb"] += stack.bytes
        point["tbk"] += stack.blocks
    summary = trace.summary
    return json.dumps({
        "dhatFileVersion": 2, "mode": "heap", "verb": "Allocated", "bklt": False, "bkacc": False,
        "tu": "microseconds", "Mtu": "s", "cmd": " ".join(trace.about.get("command", [])),
        "pid": 0, "te": round(summary.wall_s * 1e6) if summary else 0,
        "pps": list(points.values()), "ftbl": frames,
    }).encode()
