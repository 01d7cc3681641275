"""The one function of this package."""

from __future__ import annotations

from heapwise.analysis.advice import advise
from heapwise.analysis.detectable import detectable
from heapwise.analysis.expectations import expectations
from heapwise.analysis.findings import findings
from heapwise.analysis.goals import goals
from heapwise.analysis.headlines import headlines
from heapwise.analysis.rows import Bench, make_rows
from heapwise.model import Result
from heapwise.store import StoredRun
from heapwise.trust import check_run


def analyse(stored: StoredRun) -> Result:
    """Works for complete and interrupted runs alike; what is missing is said, never made up."""
    bench = Bench(stored)
    rows = make_rows(bench)
    trust = check_run(stored)
    return Result(
        run=stored.run, rows=rows, trust=trust, advice=advise(bench, rows, trust),
        noise_floor=_main_floor(bench), headlines=headlines(bench),
        goals=goals(bench, trust), expectations=expectations(bench), findings=findings(bench),
        detectable=detectable(bench),
    )


def _main_floor(bench: Bench) -> float | None:
    """The widest floor of the experiments' first quantities; 0.008 is 0.8 %."""
    firsts = {e.id: e.quantities[0].name for e in bench.stored.run.experiments}
    return max((floor for cell, floor in bench.floors.items()
                if cell.quantity == firsts.get(cell.experiment)), default=None)
