"""Do latencies hold the time that a request waits before it is served?

A closed loop asks again only when it was answered, so a stall costs one slow answer and hides all
requests that would have come meanwhile. An open loop sends by a schedule, and times from the
planned moment.
If it is unavailable: no experiment sends by a schedule yet, so none can claim a latency under load.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import Check

ID, TITLE = "V16", "Latencies are from the planned moment"


def check(evidence: Evidence) -> Check:
    return Check(ID, TITLE, "unavailable", "Does not apply: nothing was sent by a schedule. "
                 "Latencies of calls are those of a closed loop, and no latency under load.")
