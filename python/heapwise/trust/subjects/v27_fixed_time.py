"""Does the work decide how long the program runs?

A benchmark that works for ten seconds and prints how much it did takes ten seconds under every
allocator. Its time says nothing. Heapwise counts the calls of malloc in one more process for each
allocator. It compares two counts of the baseline, and looks whether all processes end just after
one round time although their counts differ.
If it warns: let the program do a fixed amount of work, and measure how long that takes.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.demand import counted_processes
from heapwise.evidence.fixed_time import fixed_time
from heapwise.model import Check
from heapwise.trust.applies import Applies, programs
from heapwise.wording.lists import counted, listed

ID, TITLE = "V27", "The work decided the time"


NOT_COUNTED = "Calls of malloc were not counted in two processes."


def _of_programs(evidence: Evidence) -> Check:
    counts = [len(counted_processes(evidence.stored, setup)) for setup in evidence.tried]
    if max(counts, default=0) < 2:
        return Check(ID, TITLE, "unavailable", NOT_COUNTED)
    reasons = [why for setup in evidence.tried if (why := fixed_time(evidence, setup))]
    figures = {"reasons": reasons, "counted": sum(counts)}
    if reasons:
        words = (
            f"The program may run for a fixed time, and do other work in it: {listed(reasons)}. "
            "Compare how long a fixed amount of work takes."
        )
        return Check(ID, TITLE, "warn", words, figures)
    words = f"Nothing in {counted(sum(counts), 'count')} of malloc says that a timer ended it."
    return Check(ID, TITLE, "pass", words, figures)


check = Applies(ID, TITLE, programs, _of_programs, others=NOT_COUNTED)
