"""The one function of this package."""

from __future__ import annotations

from heapwise.analysis.gate import gate_answer, gate_result
from heapwise.analysis.summary.advice import advise, refusal
from heapwise.analysis.summary.detectable import detectable
from heapwise.analysis.summary.findings import findings
from heapwise.analysis.summary.headlines import headlines
from heapwise.analysis.summary.pool_advice import pool_advice
from heapwise.analysis.verdicts.expectations import expectations
from heapwise.analysis.verdicts.rows import make_rows
from heapwise.evidence import Evidence, comparisons_of
from heapwise.model import Result
from heapwise.trust import check_run


def analyse(evidence: Evidence) -> Result:
    """Works for complete and interrupted runs alike. Missing figures are named, never invented."""
    rows = make_rows(evidence)
    trust = check_run(evidence)
    gain, gains = ("", []) if refusal(trust) else pool_advice(evidence, rows)
    gate = gate_result(evidence, trust)
    return Result(
        run=evidence.stored.run,
        rows=rows,
        trust=trust,
        advice=gain or (gate_answer(gate) if gate else advise(evidence, rows, trust)),
        noise_floor=_main_floor(evidence),
        headlines=[*gains, *headlines(evidence)],
        expectations=expectations(evidence),
        findings=findings(evidence),
        detectable=detectable(evidence),
        gate=gate,
    )


def _main_floor(evidence: Evidence) -> float | None:
    """The widest floor of the experiments' first quantities; 0.008 is 0.8 %."""
    firsts = {e.id: e.quantities[0].name for e in evidence.stored.run.experiments}
    return max(
        (
            floor
            for cell, floor in comparisons_of(evidence).floors.items()
            if cell.quantity == firsts.get(cell.experiment)
        ),
        default=None,
    )
