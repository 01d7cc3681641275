"""Did somebody share the core?

A core with two hardware threads does up to half as much for each when both work, and a guest of a
virtual machine cannot see who has the other. Chains of additions side by side, timed around
each sample, notice it; before a sample the process waits a while for a core of its own.
If it warns: the machine is busy outside of what you can see. Run again at another time.
"""

from __future__ import annotations

import numpy as np

from heapwise.evidence import Evidence
from heapwise.evidence.kept import CROWD
from heapwise.model import Check, Verdict
from heapwise.trust.words import counted, percent

ID, TITLE = "V26", "Each core was ours alone"


def check(evidence: Evidence) -> Check:
    crowds = [c for candidate in evidence.candidates if (c := candidate.crowd()) is not None]
    if not crowds:
        return Check(ID, TITLE, "unavailable", "No chains were timed around the samples.")
    result = evidence.sieve
    struck, removed, spared = result.struck[ID], result.removed[ID], result.spared[ID]
    figures = {"samples": len(crowds), "struck": struck, "discarded": removed,
               "cells_as_they_are": spared, "median": float(np.median(crowds)),
               "largest": max(crowds)}
    if not struck:
        return Check(ID, TITLE, "pass", f"Around each of {counted(len(crowds), 'sample')} a core "
                     f"did what it can, within {percent(CROWD)}.", figures)
    words = (f"Around {struck} of {len(crowds)} samples somebody shared the core, or its "
             f"clock was lower; {removed} of them discarded, as the rule says")
    verdict: Verdict = "warn" if spared else "pass"
    if spared:
        words += (f"; in {counted(spared, 'cell')} too few others would have been left, so "
                  "their intervals carry it")
    return Check(ID, TITLE, verdict, f"{words}.", figures)
