"""From a prepared plan to the result that the user sees."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from heapwise.cli.frame.tell.console import Console
from heapwise.options import Options

if TYPE_CHECKING:
    from heapwise.cli.frame.watched_campaign import Shown
    from heapwise.runner import Prepared
    from heapwise.study.round_costs import KnownCosts


def measure_or_plan(
    prepared: Prepared, options: Options, console: Console, plan: object = None
) -> int:
    """The exit code. With --dry-run nothing is measured, and --json says the plan. plan: what that
    says, if it is more than the plan itself."""
    if not options.dry_run:
        return measure(prepared, options, console).code
    if options.json:
        console.json(plan or prepared.plan)
    return 0


def estimated(prepared: Prepared, known: KnownCosts) -> dict[str, object]:
    """The plan, and what it will take."""
    from heapwise.study.round_costs import estimate_s, processes_of

    return {
        "plan": prepared.plan,
        "processes": processes_of(prepared),
        "estimated_s": estimate_s(prepared, known),
    }


def measure(prepared: Prepared, options: Options, console: Console) -> Shown:
    """Starts the run in a store that was tried before anything is measured."""
    from heapwise.cli.frame.tell import progress
    from heapwise.cli.frame.watched_campaign import conduct
    from heapwise.runner import start
    from heapwise.store import check_writable, find_store

    store_path = find_store(options.store)
    check_writable(store_path)
    watcher = progress.choose(console.quiet)
    campaign = start(prepared, store_path, sys.argv, watcher)
    return conduct(campaign, watcher, console, strict=options.strict, exports=options.export)
