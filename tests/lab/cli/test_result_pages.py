"""Which run of a store each page of results is of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from synthetic import pool_run

from heapwise.cli.frame.tell import result_pages
from heapwise.model import Reproduction
from heapwise.store import StoredRun


def reproduced(id: str, cpu: str) -> StoredRun:
    stored = pool_run()
    plan = stored.run.plan
    options = replace(plan.options, reproduction=Reproduction("pool-vs-malloc", {}))
    machine = replace(stored.run.machine, cpu=cpu)
    run = replace(stored.run, id=id, machine=machine, plan=replace(plan, options=options))
    return replace(stored, run=run)


def test_a_store_with_runs_of_two_machines_has_a_page_of_each(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The newest run of one machine does not stand for the other."""
    cpus = {"old": "One", "new": "One", "newest": "Other"}  # oldest first
    runs = {id: reproduced(id, cpu) for id, cpu in cpus.items()}
    listed = [
        SimpleNamespace(id=id, problem="", smoke=False, command_line=[result_pages.VERB])
        for id in runs
    ]
    monkeypatch.setattr(result_pages, "list_runs", lambda store: listed)
    monkeypatch.setattr(result_pages, "read_run", lambda store, id: runs[id])
    chosen = result_pages._chosen(tmp_path, None, None, False)
    assert {stored.run.id for _, stored in chosen} == {"new", "newest"}
