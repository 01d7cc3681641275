"""Does the program work, or does it mostly wait?

A program that sleeps, waits for a disk, a peer or a timer takes the same time under every
allocator. Its wall time then hides differences of the work. So the processor time of the baseline
is compared with its wall time. Time in which it may have waited for a processor does not count.
If it warns: compare the processor time, or give the program work that keeps it busy.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.waiting import MOSTLY, waiting_of
from heapwise.model import Check
from heapwise.trust.applies import Applies, programs
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent

ID, TITLE = "V31", "The program worked most of its time"


def _of_programs(evidence: Evidence) -> Check:
    shares = [
        share for setup in evidence.tried if (share := waiting_of(evidence, setup)) is not None
    ]
    if not shares:
        return Check(ID, TITLE, "unavailable", "Wall or processor time was not recorded.")
    figures = {"waiting": shares}
    if max(shares) > MOSTLY:
        words = (
            f"The program waits for {percent(max(shares))} of its time, so its time says little "
            "of its work. Compare its processor time."
        )
        return Check(ID, TITLE, "warn", words, figures)
    words = f"It waited for {percent(max(shares))} of its time, in {counted(len(shares), 'setup')}."
    return Check(ID, TITLE, "pass", words, figures)


check = Applies(
    ID, TITLE, programs, _of_programs, others="Only programs of a comparison are looked at."
)
