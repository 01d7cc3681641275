"""The file of DHAT's viewer (dh_view.html), version 2, without accesses."""

from __future__ import annotations

import json

from heapwise.trace.file import Trace
from heapwise.trace.names.call_stacks import CallStack


def dhat(trace: Trace, stacks: list[CallStack]) -> bytes:
    """Program points are call stacks. A stack that is empty is of a caller that is not known.

    A trace that holds windows has no lifetimes: blocks were made before them. A trace without its
    unit of time has none, either, and a profile has estimates of lifetimes for few blocks.
    """
    frames = ["[root]"]
    numbers: dict[str, int] = {}
    points: dict[tuple[int, ...], dict[str, int]] = {}
    lives = _has_lives(trace)
    for stack in stacks:
        places = [f"{place.offset:#x}: {place}" for place in reversed(stack.places)] or ["unknown"]
        for place in places:
            if place not in numbers:
                numbers[place] = len(frames)
                frames.append(place)
        key = tuple(numbers[place] for place in places)
        point = points.setdefault(key, {})
        sums = {"tb": stack.bytes, "tbk": stack.blocks}
        if lives:
            sums |= _lives(stack, trace.ns_a_unit / 1000)
        for name, value in sums.items():
            point[name] = point.get(name, 0) + value
    summary = trace.summary
    moments = {"tg": 0, "tuth": 100} if lives else {}
    return json.dumps(
        {
            "dhatFileVersion": 2,
            "mode": "heap",
            "verb": "Allocated",
            "bklt": lives,
            "bkacc": False,
            "tu": "microseconds",
            "Mtu": "s",
            "cmd": " ".join(trace.command),
            "pid": 0,
            "te": round(summary.wall_s * 1e6) if summary else 0,
            **moments,
            "pps": [{"fs": list(key), **point} for key, point in points.items()],
            "ftbl": frames,
        }
    ).encode()


def _has_lives(trace: Trace) -> bool:
    summary = trace.summary
    return (
        summary is not None
        and summary.ns_a_unit > 0
        and not trace.sample_every
        and not summary.pauses
        and summary.kept_events == summary.events
    )


def _lives(stack: CallStack, us_a_unit: float) -> dict[str, int]:
    """Shares are rounded each for itself: the most cannot be below what lived at the peak."""
    return {
        "tl": round(stack.lifetime * us_a_unit),
        "mb": max(stack.most_bytes, stack.peak_bytes, stack.end_bytes),
        "mbk": max(stack.most_blocks, stack.peak_blocks, stack.end_blocks),
        "gb": stack.peak_bytes,
        "gbk": stack.peak_blocks,
        "eb": stack.end_bytes,
        "ebk": stack.end_blocks,
    }
