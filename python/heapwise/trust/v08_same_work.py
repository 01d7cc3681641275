"""Did every subject do the same work, to the end?

A crash or an early exit looks fast. Exit code and a hash of the output are compared in every
process; experiments count their own blocks. What a program leaves running when it ends is killed,
and its work was not timed.
If it fails: make the output repeatable, or --ignore-output if the difference is harmless. If it
warns of processes left running: use the program's option to stay in the foreground.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from heapwise.evidence import Evidence
from heapwise.evidence.kept import timed
from heapwise.evidence.series import baseline_of
from heapwise.model import Check, Process, Setup, Verdict
from heapwise.store import StoredRun
from heapwise.trust.words import counted, listed

ID, TITLE = "V8", "Every subject did the same work"

BAD = {"crashed", "failed", "timed_out", "output_differs", "wrong_allocator"}


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    processes = [p for p in stored.processes if timed(p)]
    proven = [p for p in processes if p.facts.output_hash or p.facts.checks]
    broken = Counter(f"{p.subject} {p.status.replace('_', ' ')}" for p in processes
                     if p.status in BAD)
    different = _different(stored, [p for p in processes if p.status == "ok"])
    false = [f"{p.subject}: {c.detail or c.id}" for p in processes
             for c in p.facts.checks or () if not c.ok]
    figures = {"processes": len(processes), "proven": len(proven), "broken": dict(broken),
               "different": different, "failed_checks": false[:20]}
    if false:
        return Check(ID, TITLE, "fail", f"A check of the work failed: {listed(false)}.", figures)
    if different and not stored.run.plan.options.ignore_output:
        return Check(ID, TITLE, "fail", f"The output is not the same: {listed(different)}.",
                     figures)
    if not proven:
        return Check(ID, TITLE, "unavailable", "Neither output nor work was recorded.", figures)
    return Check(ID, TITLE, *_verdict(stored, processes, broken, different), figures)


def _verdict(stored: StoredRun, processes: list[Process], broken: Counter[str],
             different: list[str]) -> tuple[Verdict, str]:
    baselines = {(e.id, baseline_of(stored, e)) for e in stored.run.experiments}
    if any((p.experiment, p.subject) in baselines and p.status in BAD for p in processes):
        return "fail", f"The baseline itself did not finish: {_times(broken)}."
    if broken:
        return "warn", f"Not everyone finished, and who did not has no figures: {_times(broken)}."
    if different:
        return "warn", f"The output differs, and was to be ignored: {listed(different)}."
    leaving = [left for p in processes if (left := p.facts.lingering)]
    if leaving:
        return "warn", (
            f"{len(leaving)} of {counted(len(processes), 'process', 'processes')} left up to "
            f"{counted(max(leaving), 'other')} running when they ended. These were killed, and "
            "their work was not timed: use the program's option to stay in the foreground.")
    return "pass", (f"Exit code and output, or the experiment's own count, agree in all "
                    f"{counted(len(processes), 'process', 'processes')}.")


def _times(broken: Counter[str]) -> str:
    return listed(f"{what} ({n} times)" if n > 1 else what for what, n in broken.items())


def _different(stored: StoredRun, processes: Iterable[Process]) -> list[str]:
    """Subjects whose output is another than the most frequent one of the same cell.

    Only where a program's output is compared: an experiment prints its figures, which vary.
    """
    if stored.run.plan.kind != "compare":
        return []
    groups: dict[Setup, list[Process]] = {}
    for process in processes:
        if process.facts.output_hash:
            groups.setdefault(process.setup, []).append(process)
    found: list[str] = []
    for members in groups.values():
        usual = Counter(_outcome(p) for p in members).most_common(1)[0][0]
        found += [p.subject for p in members if _outcome(p) != usual]
    return sorted(set(found))


def _outcome(process: Process) -> tuple[object, object]:
    return process.facts.output_hash, process.facts.exit_code
