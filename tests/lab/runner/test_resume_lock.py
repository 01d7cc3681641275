"""``resume`` decides what is left to do when nobody else can change it any more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic import pool_run

from heapwise.errors import Problem
from heapwise.model import Plan
from heapwise.runner import resume
from heapwise.runner.campaign.watcher import Watcher
from heapwise.runner.executors.program import program_executor
from heapwise.store import RunWriter, read_run


class Silent(Watcher):
    """Nobody looks on."""


def test_the_plan_is_the_one_that_the_lock_protects(tmp_path: Path) -> None:
    run = pool_run().run
    run = replace(run, plan=replace(run.plan, working_directory=str(tmp_path / "gone")))
    RunWriter.create(tmp_path, run).close()
    folder = read_run(tmp_path, run.id).path
    with RunWriter.reopen(folder) as other:  # another process gives it more rounds meanwhile
        other.update(replace(run, plan=replace(run.plan, max_rounds=77)))
    seen: list[int] = []

    def extend(plan: Plan) -> Plan:
        seen.append(plan.max_rounds)
        with pytest.raises(Problem, match="is being measured"):
            RunWriter.reopen(folder)
        return plan

    with pytest.raises(Problem, match="is gone"):
        resume(folder, extend, Silent(), program_executor)
    assert seen == [77]
    RunWriter.reopen(folder).close()  # the lock was given back with the error
