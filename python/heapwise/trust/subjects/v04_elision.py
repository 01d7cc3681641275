"""Did the compiler remove the calls that were to be measured?

A compiler may remove a malloc if nobody uses the block. Then an empty loop is timed. Heapwise
counts the calls that arrive at malloc, in a process that is not timed, and compares their number
with the expected one.
If it fails: the experiment is wrong. Report it.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import Check
from heapwise.trust.applies import Applies, experiments
from heapwise.wording.lists import counted, listed

ID, TITLE = "V4", "No call was optimised away"


def _of_experiments(evidence: Evidence) -> Check:
    found = []
    for process in evidence.stored.processes:
        end, calls = process.facts.end, process.facts.calls
        if process.status == "ok" and end and end.expected_calls and calls:
            found.append((process.experiment, process.subject, end.expected_calls, calls.requests))
    figures = {
        "counted": [
            dict(zip(("experiment", "subject", "expected", "counted"), f, strict=True))
            for f in found
        ]
    }
    if not found:
        return Check(ID, TITLE, "unavailable", "No process of this run was counted.", figures)
    short = [f for f in found if f[3] < f[2]]
    if short:
        words = [f"{e} with {s}: {n:,} of {x:,}" for e, s, x, n in short]
        return Check(ID, TITLE, "fail", f"Calls are missing: {listed(words)}.", figures)
    return Check(
        ID,
        TITLE,
        "pass",
        f"Every expected call arrived, counted in "
        f"{counted(len(found), 'process', 'processes')} of its own.",
        figures,
    )


check = Applies(
    ID,
    TITLE,
    experiments,
    _of_experiments,
    others="Does not apply: the program is measured as its owner built it.",
)
