"""Did the processor keep its speed?

Clocks change with heat and load. A fixed chain of instructions is timed before and after each
sample; where it changed by more than 2 %, the sample is discarded and counted.
If it warns: too many changed to discard any. Close other programs; fix the frequency if you can.
"""

from __future__ import annotations

import numpy as np

from heapwise.evidence import Evidence
from heapwise.evidence.kept import SPIN_CHANGE, TOO_MANY
from heapwise.model import Check
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent

ID, TITLE = "V12", "The processor kept its speed"


def check(evidence: Evidence) -> Check:
    changes = [c for candidate in evidence.candidates if (c := candidate.spin_change()) is not None]
    if not changes:
        return Check(ID, TITLE, "unavailable", "No spin was timed before and after the samples.")
    result = evidence.sieve
    struck, removed = result.struck[ID], result.removed[ID]
    figures = {"samples": len(changes), "struck": struck, "discarded": removed,
               "median_change": float(np.median(changes)), "largest_change": max(changes)}
    words = (f"A calibrated spin before and after each of {counted(len(changes), 'sample')} "
             f"changed by {percent(float(np.median(changes)))} in the median")
    if struck > removed and struck > TOO_MANY * result.of:
        return Check(ID, TITLE, "warn", f"{words}, and by more than {percent(SPIN_CHANGE)} in "
                     f"{struck}: too many to be exceptions, so none was discarded and the "
                     "intervals carry it.", figures)
    if removed:
        return Check(ID, TITLE, "pass", f"{words}; {counted(removed, 'sample')} with more than "
                     f"{percent(SPIN_CHANGE)} discarded, as the rule says.", figures)
    return Check(ID, TITLE, "pass", f"{words}, never by more than {percent(SPIN_CHANGE)}.", figures)
