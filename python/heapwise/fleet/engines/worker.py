"""``python -m heapwise.fleet.engines.worker``: one worker, without a nanny, for one machine."""

from __future__ import annotations

import argparse
import asyncio
import tempfile

from heapwise.fleet.engines.quiet_engine import make_quiet
from heapwise.fleet.lifeline import end_with_parent

RESOURCES = {"machine": 1.0}
"""A job takes it, so a worker has one job at a time; ``HostLock`` holds it across workers."""


async def work(scheduler: str, name: str, port: int, contact: str | None) -> None:
    from distributed import Worker

    with tempfile.TemporaryDirectory(prefix="heapwise-worker-") as folder:
        async with Worker(
            scheduler,
            nthreads=1,
            name=name,
            resources=RESOURCES,
            memory_limit=0,
            local_directory=folder,
            host="tcp://127.0.0.1",
            port=port,
            contact_address=contact,
            dashboard=False,
            death_timeout=60,
        ) as worker:
            await worker.finished()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("scheduler")
    parser.add_argument("--name", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--contact")
    options = parser.parse_args()
    make_quiet()
    end_with_parent()
    asyncio.run(work(options.scheduler, options.name, options.port, options.contact))
