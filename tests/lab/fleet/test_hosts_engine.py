"""Schedulers and workers that are stopped, with real processes."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from heapwise.fleet.engines import workers
from heapwise.fleet.engines.hosts_engine import HostsEngine
from heapwise.fleet.hosts import Host


def test_a_scheduler_that_is_stopped_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client

    monkeypatch.setattr(workers, "ANSWER_S", 60.0)
    engine = HostsEngine([Host("one")])
    connect: Any = Client
    try:
        with connect(engine.address, timeout=60, set_as_default=False) as client:
            while "one" not in engine.machines(client):
                engine.mend([], ["one"])
                time.sleep(0.1)
            monkeypatch.setattr(workers, "ANSWER_S", 2.0)
            os.kill(engine.scheduler.pid, signal.SIGSTOP)
            with pytest.raises(TimeoutError):
                engine.machines(client)
            engine.close()
    finally:
        engine.close()
