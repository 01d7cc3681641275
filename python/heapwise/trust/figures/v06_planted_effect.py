"""Does this machine find an effect that is known to be there?

Most allocators differ by a few percent, so a measurement must be able to find 3 %. The self-test
measures an experiment and a program that take 1, 3 and 10 % more time or memory than themselves.
Heapwise must find the sign and the size.
If it warns: small differences are lost in this machine's noise, or ratios of it are wrong. Run
heapwise selftest again when the machine is quiet.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import Check, Planted
from heapwise.wording.lists import counted, listed

ID, TITLE = "V6", "A planted effect is found"

MUST_SEE = 0.03
"""A planted effect of this size or more must be told from nothing; a smaller one may be lost."""


def check(evidence: Evidence) -> Check:
    test = evidence.stored.run.self_test
    planted = [p for p in test.planted if p.check == ID] if test else []
    if not planted:
        return Check(
            ID,
            TITLE,
            "unavailable",
            "No self-test of this machine and build planted an "
            "effect, so what this run could find is not known.",
        )
    found = [p for p in planted if p.outcome == "found"]
    wrong = [p for p in planted if p.outcome in ("missed", "false alarm")]
    lost = [p for p in planted if p.outcome == "too noisy" and p.share >= MUST_SEE]
    figures = {
        "planted": [
            {"planted": p.planted, "share": p.share, "outcome": p.outcome, "detail": p.detail}
            for p in planted
        ]
    }
    if wrong:
        return Check(
            ID,
            TITLE,
            "warn",
            f"What was planted is not what was found: {listed(map(_words, wrong))}.",
            figures,
        )
    if lost:
        return Check(
            ID,
            TITLE,
            "warn",
            f"The self-test could not tell from nothing: {listed(map(_words, lost))}.",
            figures,
        )
    return Check(
        ID,
        TITLE,
        "pass",
        f"Found {len(found)} of {counted(len(planted), 'effect')} of 1 "
        "to 10 % that the self-test planted, with sign and size.",
        figures,
    )


def _words(planted: Planted) -> str:
    return f"{planted.planted} ({planted.detail})"
