"""Programs that did not do their work beside each other, so that they ran one by one in the end."""

from __future__ import annotations

from heapwise.model import FAILED_BESIDE
from heapwise.store import StoredRun


def given_up_pairs(stored: StoredRun) -> str:
    """Which program failed beside others, how, and what to do; "" if none did, or if later ones did
    their work."""
    if stored.run.plan.options.side_by_side is not False:  # a run that gives up says so there
        return ""
    failed = next(
        (
            process
            for process in stored.processes
            if process.facts.beside is not None and process.reason.startswith(FAILED_BESIDE)
        ),
        None,
    )
    if failed is None:
        return ""
    return (
        f"Side by side, {failed.subject} did not do its work "
        f"({failed.reason.removeprefix(FAILED_BESIDE)}), so all ran one by one. If it needs a "
        "folder, a lock or a port for itself, give each process its own. --fresh-dir does so for "
        "names in the folder in which it runs."
    )
