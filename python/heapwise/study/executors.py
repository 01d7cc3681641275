"""What runs the steps of a stored run, by its kind of study."""

from __future__ import annotations

from heapwise.model import Plan
from heapwise.runner.campaign.executor import MakeExecutor


def executor_of(plan: Plan) -> MakeExecutor:
    """What runs the steps of the plan."""
    if plan.kind == "compare":
        from heapwise.runner.executors.program import program_executor

        return program_executor
    if plan.options.server is not None:
        from heapwise.study.server.run import server_executor

        return server_executor
    from heapwise.runner.executors.measurement import experiment_executor

    return experiment_executor
