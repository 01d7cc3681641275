"""The file format of speedscope: a profile for each of the sums of a call stack."""

from __future__ import annotations

import json

from heapwise.trace.file import Trace
from heapwise.trace.names.call_stacks import CallStack
from heapwise.trace.names.symbols import Place

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(trace: Trace, stacks: list[CallStack]) -> bytes:
    """Profiles of the type "sampled": a sample is a call stack, its weight the blocks or bytes."""
    numbers: dict[Place, int] = {}
    samples = [
        [numbers.setdefault(place, len(numbers)) for place in stack.places] for stack in stacks
    ]
    profiles = []
    for name, unit, weights in (
        ("bytes", "bytes", [stack.bytes for stack in stacks]),
        ("blocks", "none", [stack.blocks for stack in stacks]),
        ("live bytes at the peak", "bytes", [stack.peak_bytes for stack in stacks]),
        ("live bytes at the end", "bytes", [stack.end_bytes for stack in stacks]),
    ):
        profiles.append(
            {
                "type": "sampled",
                "name": name,
                "unit": unit,
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        )
    return json.dumps(
        {
            "$schema": SCHEMA,
            "name": trace.path.name,
            "exporter": "heapwise",
            "shared": {"frames": [_frame(place) for place in numbers]},
            "profiles": profiles,
        }
    ).encode()


def _frame(place: Place) -> dict[str, str | int]:
    frame: dict[str, str | int] = {"name": place.name}
    file, _, line = place.line.rpartition(":")
    if file and line.isdecimal():
        frame |= {"file": file, "line": int(line)}
    return frame
