"""What a scheduler says of its workers, in bounded time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ANSWER_S = 10.0


def connected_workers(client: Any) -> Mapping[str, Mapping[str, Any]]:
    """Address -> facts, of all workers. TimeoutError if the scheduler does not answer: it may be
    stopped, and ``Client.scheduler_info`` would wait for ever."""
    found: Mapping[str, Mapping[str, Any]] = client.sync(
        client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER_S
    )["workers"]
    return found
