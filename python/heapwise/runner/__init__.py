"""Preflight, plan, interleave, launch, time out, stop and resume: from a wish to stored samples."""

from heapwise.runner.attached import watch_memory
from heapwise.runner.base_commit import built_commit
from heapwise.runner.bisection import STATE_FILE, Bisection, BisectionResult, Interrupted
from heapwise.runner.builds import Examined, unknown_placeholders
from heapwise.runner.campaign import Campaign
from heapwise.runner.checkout import Checkout
from heapwise.runner.common_places import common_place
from heapwise.runner.compare_plan import CompareRequest, Prepared, prepare_compare
from heapwise.runner.counted_bisection import CountedBisection
from heapwise.runner.experiment_plan import RunRequest, prepare_run, resolve
from heapwise.runner.launch import Outcome
from heapwise.runner.preflight import preflight
from heapwise.runner.program import experiment_of
from heapwise.runner.row_runner import row_trouble
from heapwise.runner.start import resume, start
from heapwise.runner.steps import Step, cells, control_of, subjects_of
from heapwise.runner.suspects import Suspects
from heapwise.runner.watcher import Progress, Watcher
from heapwise.runner.whole_program import LONGEST_S
from heapwise.runner.worktrees import Worktrees, worktrees

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
