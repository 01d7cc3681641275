"""A run without what tells whose machine it was: host, user, paths, values of the environment."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from heapwise.model import Process, Run, Sample
from heapwise.store import StoredRun

PATH = re.compile(r"(?<![\w./…])(?:/[^\s/:\"'=,;]+)+/?")
"""An absolute path: after a colon too, but not within an address of the web."""

HIDDEN = "(redacted)"

Record = TypeVar("Record", Run, Process, Sample)


def redact(stored: StoredRun) -> StoredRun:
    """Absolute paths keep their last part; names of variables stay, their values go."""
    machine = stored.run.machine
    words = {w for w in (machine.host, machine.user) if len(w) > 1}
    words |= {value for name, value in stored.run.plan.environment.items()
              if name in ("USER", "LOGNAME", "HOSTNAME") and len(value) > 1}
    secret = re.compile("|".join(rf"(?<!\w){re.escape(w)}(?!\w)" for w in sorted(words))) \
        if words else None
    run = _clean(stored.run, Run, secret)
    plan = replace(run.plan, environment=dict.fromkeys(run.plan.environment, HIDDEN),
                   working_directory=HIDDEN if run.plan.working_directory else "")
    run = replace(run, plan=plan, machine=replace(run.machine, host=HIDDEN, user=HIDDEN))
    if run.machine_after:
        run = replace(run, machine_after=replace(run.machine_after, host=HIDDEN, user=HIDDEN))
    return replace(
        stored, run=run, path=Path(stored.path.name),
        processes=[_clean(p, Process, secret) for p in stored.processes],
        samples=[_clean(s, Sample, secret) for s in stored.samples])


def _clean(record: Record, kind: type[Record], secret: re.Pattern[str] | None) -> Record:
    return msgspec.convert(_walk(msgspec.to_builtins(record), secret), kind)


def _walk(value: Any, secret: re.Pattern[str] | None) -> Any:
    if isinstance(value, dict):
        return {key: _walk(inner, secret) for key, inner in value.items()}
    if isinstance(value, list):
        return [_walk(inner, secret) for inner in value]
    if isinstance(value, str):
        shorter = PATH.sub(lambda found: f"…/{found.group().rstrip('/').rpartition('/')[2]}", value)
        return secret.sub(HIDDEN, shorter) if secret else shorter
    return value
