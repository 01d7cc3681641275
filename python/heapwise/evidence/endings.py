"""With which exit codes processes ended. A code that is allowed is still not another's code."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from heapwise.model import Setup

if TYPE_CHECKING:
    from heapwise.evidence.evidence import Evidence

Codes = Counter[int]


def codes_of(evidence: Evidence, setup: Setup, subject: str) -> Codes:
    """Exit code -> how many of the timed processes that count ended with it."""
    return Counter(
        p.facts.exit_code
        for p in evidence.tried.get(setup, {}).get(subject, ())
        if p.status == "ok" and p.facts.exit_code is not None
    )


def other_ending(evidence: Evidence, setup: Setup, subject: str, base: str) -> str:
    """``ended with 3, and base with 0`` if most processes of the two ended differently; else ""."""
    mine, known = (usual_code(codes_of(evidence, setup, name)) for name in (subject, base))
    if mine is None or known is None or mine == known:
        return ""
    return f"ended with {mine}, and {base} with {known}"


def usual_code(codes: Codes) -> int | None:
    return codes.most_common(1)[0][0] if codes else None


def different_codes(evidence: Evidence) -> list[str]:
    """``fails 3 (7 of 7)`` of each subject with a code that its baseline never had, and of the
    baseline then, too. Only programs that know nothing of us are allowed to end with a code."""
    found: dict[str, None] = {}
    for setup, row in evidence.tried.items():
        base = evidence.baselines.get(setup[0], "")
        if setup[0] not in evidence.whole_programs:
            continue
        known = codes_of(evidence, setup, base)
        for subject in row:
            codes = codes_of(evidence, setup, subject)
            if known and codes and set(codes) != set(known) and subject != base:
                found[_words(subject, codes)] = None
                found[_words(base, known)] = None
    return list(found)


def _words(subject: str, codes: Codes) -> str:
    total = sum(codes.values())
    each = (f"{code} ({number} of {total})" for code, number in sorted(codes.items()))
    return f"{subject} {' and '.join(each)}"
