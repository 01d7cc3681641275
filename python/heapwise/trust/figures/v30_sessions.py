"""Do the rounds of different days agree?

`resume` adds rounds hours or days later. Within a day both labels of the baseline share the state
of the machine, so the noise floor does not see that a ratio is another one on another day. Rounds
whose processes began more than an hour apart are of two sessions, and the ratios of sessions are
compared.
If it warns: the ratio depends on the state of the machine. Measure in one session, or in many.
"""

from __future__ import annotations

from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.sessions import session_words, sessions_of
from heapwise.model import Check
from heapwise.wording.lists import counted, listed

ID, TITLE = "V30", "All sessions agreed"


def check(evidence: Evidence) -> Check:
    sessions = evidence.once(sessions_of)
    number = len(set(sessions.values()))
    figures = {"sessions": number}
    if number == 0:
        return Check(ID, TITLE, "unavailable", "It is not known when the processes began.", figures)
    if number == 1:
        words = "All rounds were measured in one session, without a break of an hour."
        return Check(ID, TITLE, "pass", words, figures)
    if apart := _apart(evidence):
        words = (
            f"Ratios differ between sessions of the run: {listed(apart)}. These rows have no "
            "verdict."
        )
        return Check(ID, TITLE, "warn", words, figures)
    words = f"No ratio differs between the {counted(number, 'session')} of the run."
    return Check(ID, TITLE, "pass", words, figures)


def _apart(evidence: Evidence) -> list[str]:
    """The sessions that differ in the first quantity of each experiment."""
    firsts = {e.id: e.quantities[0].name for e in evidence.stored.run.experiments}
    sessions, pairs = evidence.once(sessions_of), comparisons_of(evidence).pairs
    return [
        f"{subject}: {words}"
        for cell, row in evidence.table.items()
        if cell.quantity == firsts.get(cell.experiment)
        and (base := evidence.baselines.get(cell.experiment, "")) in row
        for subject in row
        if subject != base
        and (words := session_words(pairs((cell, subject), (cell, base)), sessions))
    ]
