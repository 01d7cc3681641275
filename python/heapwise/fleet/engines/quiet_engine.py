"""Settings of Dask that keep it still while a machine measures.

Source: distributed.yaml of distributed 2026.8.0. Its nanny, which would set
MALLOC_TRIM_THRESHOLD_ and OMP_NUM_THREADS, is not used at all.
"""

from __future__ import annotations

import dask.config

QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.allowed-failures": 20,
    "distributed.scheduler.worker-ttl": "60s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "1h",
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.admin.system-monitor.disk": False,
    "distributed.diagnostics.nvml": False,
}
"""allowed-failures: a job is idempotent; the client counts the attempts itself."""


def quiet_variables() -> dict[str, str]:
    """The same as variables of a worker that somebody else starts. Measured processes get none of
    them."""
    return {
        f"DASK_{name.upper().replace('.', '__').replace('-', '_')}": str(value)
        for name, value in QUIET.items()
    }


def make_quiet() -> None:
    dask.config.set(QUIET)
