"""The scheduler of a fleet as a process on the loopback, which ends with its client."""

from __future__ import annotations

import asyncio

from heapwise.fleet.engines.quiet_engine import make_quiet
from heapwise.fleet.lifeline import end_with_parent


async def serve() -> None:
    from distributed import Scheduler

    async with Scheduler(host="tcp://127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()


if __name__ == "__main__":
    make_quiet()
    end_with_parent()
    asyncio.run(serve())
