"""Can preloading reach the programs of an experiment (V2)? Decided before anything is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heapwise.catalog import first_line
from heapwise.errors import Problem
from heapwise.model import PROGRAM, Check, Experiment, ProgramSpec, Setting
from heapwise.runner.plan.preflight import TITLE, preflight
from heapwise.wording.lists import counted, listed
from heapwise.wording.suggest import did_you_mean


def with_programs(experiment: Experiment, chosen: Sequence[Setting]) -> Experiment:
    """Those that were chosen, examined. Problem E003 for one that is not declared."""
    known = {program.name: program for program in experiment.programs}
    if unknown := next((name for name in chosen if name not in known), None):
        hint = did_you_mean(str(unknown), known, f"there are {', '.join(known)}")
        raise Problem("E003", f"--set {PROGRAM}: there is no program '{unknown}'{hint}")
    return replace(experiment, programs=[examined(known[str(name)]) for name in chosen])


def examined(program: ProgramSpec) -> ProgramSpec:
    """With its version, or with the reason for which it is not measured."""
    if program.status:
        return program
    for name in program.executables:
        try:
            linked = preflight(name).linked
        except Problem as problem:
            return replace(program, status="refused", reason=problem.what)
        if linked not in ("", program.replaces):
            reason = f"{name} is linked with an allocator ({linked})"
            return replace(program, status="refused", reason=reason)
    return replace(program, version=first_line(program.ask_version))


def check_of(programs: Sequence[ProgramSpec]) -> Check:
    """V2 of all of them."""
    reached = [program for program in programs if not program.status]
    refused = [program for program in programs if program.status == "refused"]
    said = f"{counted(len(reached), 'program')}: dynamic ELF, malloc can be replaced"
    if linked := [f"{p.name} (linked with {p.replaces})" for p in reached if p.replaces]:
        said += f"; the C library is preloaded for the baseline of {listed(linked)}"
    if not refused:
        return Check("V2", TITLE, "pass", f"{said}.")
    words = listed((f"{program.name}: {program.reason}" for program in refused), len(refused))
    return Check("V2", TITLE, "warn", f"{said}. Not measured: {words}.")
