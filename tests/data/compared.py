"""What ``compare`` planned, and what it stored."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from heapwise.store import read_run, run_ids


def stored_run(tmp_path: Path) -> Any:
    store = tmp_path / "store"
    return read_run(store, run_ids(store)[-1])


def plan_of(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def dry(heapwise: Any, *words: str) -> Any:
    return plan_of(heapwise("compare", "--dry-run", "--json", *words))
