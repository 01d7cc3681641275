"""Parts that run beside the others, and parts beside which nothing runs.

Many parts leave a processor idle for a while: one program is linked, the last test of many runs, a
test waits. The parts of a second lane run beside them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from suite.part import Lane, Part, end_all
from suite.tally import Tally


def run_lanes(parts: list[Part], run: Callable[[Part], Tally]) -> Tally:
    """Runs the parts of the first two lanes at once, each lane in its order, then the last lane."""
    stopped = threading.Event()

    def run_lane(lane: Lane) -> Tally:
        tally = Tally()
        for part in parts:
            if part.lane is lane and not stopped.is_set():
                tally += run(part)
        return tally

    with ThreadPoolExecutor(max_workers=1) as second:
        beside = second.submit(run_lane, Lane.BESIDE)
        try:
            tally = run_lane(Lane.USUAL)
            tally += beside.result()
        except BaseException:
            stopped.set()
            # Again and again: the other lane may be about to start a command.
            while not beside.done():
                end_all()
                wait([beside], timeout=0.1)
            raise
    return tally + run_lane(Lane.ALONE)
