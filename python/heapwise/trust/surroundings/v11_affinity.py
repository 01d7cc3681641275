"""Did the processes run on the intended processors?

If a pin was not applied, or a container has fewer processors than expected, something else is
measured. Just before the program begins, each process reads which processors it has. A program may
choose other processors for itself, but it must choose the same ones under each allocator.
If it fails: see --cpus, and look for limits of this container or session.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.model import Check, Process
from heapwise.model.json_value import Json
from heapwise.store import StoredRun
from heapwise.trust.applies import Applies, programs
from heapwise.wording.lists import counted, listed

ID, TITLE = "V11", "The processors were the ones asked for"


def _of_programs(evidence: Evidence) -> Check:
    return _judged(evidence.stored, _chosen(evidence.stored))


def _of_experiments(evidence: Evidence) -> Check:
    return _judged(evidence.stored, {})


def _judged(stored: StoredRun, chosen: dict[str, frozenset[tuple[int, ...]]]) -> Check:
    """chosen: subject -> the sets of processors that its program chose for itself."""
    seen = [(p, found) for p in measured(stored) if (found := _affinities(p))]
    if not seen:
        return Check(ID, TITLE, "unavailable", "No process read its affinity back.")
    asked = _asked(stored)
    sets = sorted({tuple(a) for _, found in seen for a in found})
    figures: dict[str, Json] = {
        "seen": [list(s) for s in sets],
        "asked": asked,
        "processes": len(seen),
    }
    if asked is not None and any(list(s) != asked for s in sets):
        return Check(
            ID,
            TITLE,
            "fail",
            f"Asked for processors {asked}, but the processes had "
            f"{listed(str(list(s)) for s in sets)}.",
            figures,
        )
    if len(sets) > 1:
        return Check(
            ID,
            TITLE,
            "fail",
            "The processes did not all have the same processors: "
            f"{listed(str(list(s)) for s in sets)}.",
            figures,
        )
    strayed = _strayed(stored, set(sets[0]))
    if strayed:
        return Check(
            ID,
            TITLE,
            "fail",
            f"A timed region ran on processor {strayed[0]}, outside its affinity.",
            figures,
        )
    figures["chosen"] = {name: [list(s) for s in sorted(sets)] for name, sets in chosen.items()}
    if len(set(chosen.values())) > 1:
        words = listed(f"{name} {sorted(map(list, sets))}" for name, sets in chosen.items())
        return Check(
            ID,
            TITLE,
            "warn",
            "The program did not choose the same processors for itself "
            f"under each allocator: {words}.",
            figures,
        )
    words = (
        f"Read back inside {len(seen)} processes: {counted(len(sets[0]), 'processor')} "
        f"{list(sets[0])} throughout."
    )
    for own in sorted(next(iter(chosen.values()), frozenset()) - set(sets)):
        words += f" The program chose {list(own)} for itself."
    crowded = _crowded(stored, len(sets[0]))
    if crowded:
        words += f" Rows with {listed(map(str, sorted(crowded)))} threads measure waiting as well."
    return Check(ID, TITLE, "pass", words, figures | {"crowded_threads": sorted(crowded)})


def _affinities(process: Process) -> list[list[int]]:
    """As the launcher read it in the child before the program began, and as our own experiments
    do when they begin."""
    found = [process.facts.affinity]
    if process.facts.start:
        found.append(process.facts.start.affinity)
    return [sorted(affinity) for affinity in found if affinity]


def _chosen(stored: StoredRun) -> dict[str, frozenset[tuple[int, ...]]]:
    """Subject -> the sets of processors that the processes of a comparison began with."""
    found: dict[str, set[tuple[int, ...]]] = {}
    for process in measured(stored):
        found.setdefault(process.subject, set()).update(
            tuple(sorted(record.affinity)) for record in process.identity if record.affinity
        )
    return {name: frozenset(sets) for name, sets in found.items()}


def _asked(stored: StoredRun) -> list[int] | None:
    return sorted(stored.run.plan.options.cpus) or None


def _strayed(stored: StoredRun, allowed: set[int]) -> list[int]:
    used = {cpu for s in stored.samples for cpu in s.facts.cpus or ()}
    return sorted(used - allowed)


def _crowded(stored: StoredRun, processors: int) -> set[int]:
    counts = {p.parameters.get("threads") for p in measured(stored)}
    return {n for n in counts if isinstance(n, int) and n > processors}


check = Applies(ID, TITLE, programs, _of_programs, others=_of_experiments)
