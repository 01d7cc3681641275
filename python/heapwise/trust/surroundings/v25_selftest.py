"""Did the laboratory find planted faults and effects, on this machine and with this build?

`heapwise selftest` plants known faults and known effects in real processes and tests whether the
checks and the statistics find them. Each later run on the same machine with the same build keeps
the result.
If it is unavailable, the run is marked unverified: run `heapwise selftest`, which takes a minute.
If it warns: the check that missed its fault may miss one in this run too.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import Check
from heapwise.wording.lists import counted, listed

ID, TITLE = "V25", "The laboratory found its planted faults"


def check(evidence: Evidence) -> Check:
    test = evidence.stored.run.self_test
    if test is None:
        return Check(
            ID,
            TITLE,
            "unavailable",
            "Unverified: this machine and build had no "
            "self-test when the run began. heapwise selftest makes one.",
        )
    found = [p for p in test.planted if p.outcome == "found"]
    noisy = [p for p in test.planted if p.outcome == "too noisy"]
    figures = {
        "created": test.created,
        "planted": len(test.planted),
        "found": len(found),
        "missed": [p.planted for p in test.failures],
        "too_noisy": len(noisy),
    }
    if test.failures:
        words = [f"{p.check}: {p.planted} ({p.outcome})" for p in test.failures]
        return Check(
            ID,
            TITLE,
            "warn",
            f"The self-test of {test.created[:10]} failed in "
            f"{counted(len(words), 'place')}: {listed(words)}.",
            figures,
        )
    small = (
        f"; {counted(len(noisy), 'effect')} too small for the noise of that time" if noisy else ""
    )
    return Check(
        ID,
        TITLE,
        "pass",
        f"Found {len(found)} of {len(test.planted)} faults and "
        f"effects that were planted on {test.created[:10]}{small}.",
        figures,
    )
