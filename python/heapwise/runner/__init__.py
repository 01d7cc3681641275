"""Preflight, plan, interleave, launch, time out, stop and resume: from a wish to stored samples."""

from typing import TYPE_CHECKING

from heapwise.lazy import lazy_names

if TYPE_CHECKING:
    from heapwise.runner.attached import watch_memory
    from heapwise.runner.campaign.campaign import Campaign
    from heapwise.runner.campaign.steps import Step, cells, control_of, subjects_of
    from heapwise.runner.campaign.watcher import Progress, Watcher
    from heapwise.runner.commits.base_commit import NoBaseError, built_commit
    from heapwise.runner.commits.bisection import (
        STATE_FILE,
        Bisection,
        BisectionResult,
        Interrupted,
    )
    from heapwise.runner.commits.checkout import Checkout
    from heapwise.runner.commits.common_places import common_place
    from heapwise.runner.commits.counted_bisection import CountedBisection
    from heapwise.runner.commits.suspects import Suspects
    from heapwise.runner.commits.worktrees import Worktrees, worktrees
    from heapwise.runner.executors.program import experiment_of
    from heapwise.runner.executors.row_runner import row_trouble
    from heapwise.runner.executors.whole_program import LONGEST_S
    from heapwise.runner.plan.builds import Examined, unknown_placeholders
    from heapwise.runner.plan.compare_plan import CompareRequest, Prepared, prepare_compare
    from heapwise.runner.plan.experiment_plan import RunRequest, prepare_run, resolve
    from heapwise.runner.plan.preflight import preflight
    from heapwise.runner.process.launch import Outcome
    from heapwise.runner.run_start import resume, start

__all__ = [
    "LONGEST_S",
    "STATE_FILE",
    "Bisection",
    "BisectionResult",
    "Campaign",
    "Checkout",
    "CompareRequest",
    "CountedBisection",
    "Examined",
    "Interrupted",
    "NoBaseError",
    "Outcome",
    "Prepared",
    "Progress",
    "RunRequest",
    "Step",
    "Suspects",
    "Watcher",
    "Worktrees",
    "built_commit",
    "cells",
    "common_place",
    "control_of",
    "experiment_of",
    "preflight",
    "prepare_compare",
    "prepare_run",
    "resolve",
    "resume",
    "row_trouble",
    "start",
    "subjects_of",
    "unknown_placeholders",
    "watch_memory",
    "worktrees",
]

__getattr__ = lazy_names(__name__, __file__)
