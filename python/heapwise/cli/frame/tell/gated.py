"""A gate on the terminal: what it will do, what came of it, and the files that it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapwise.cli.frame.tell.announce import say_surroundings
from heapwise.cli.frame.tell.console import Console, error_line, labelled
from heapwise.cli.frame.tell.written_files import demand_writable, write_text
from heapwise.errors import Problem
from heapwise.model import GateResult, Plan, Relinked
from heapwise.runner import Prepared
from heapwise.study.plan_lines import together_words
from heapwise.wording.durations import show_limit
from heapwise.wording.lists import listed


def announce_gate(prepared: Prepared, console: Console) -> None:
    """The lines Base, New, Limits, Machine and Plan."""
    plan = prepared.plan
    for one in prepared.examined:
        console.say(f"{one.build.name.capitalize():13}{one.build.program} ... {one.found.sentence}")
    console.say(labelled("Limits       ", limits_line(plan)))
    say_surroundings(prepared, console)
    gate = plan.options.gate
    if gate and (relinked := gate.relinked):
        console.say(labelled("Layouts      ", layouts_line(relinked)))
    console.say(labelled("Plan         ", gate_plan_line(plan)))


def layouts_line(relinked: Relinked) -> str:
    moved = (
        f"at least {relinked.moved:,} of {relinked.functions:,} functions have another place"
        if relinked.functions
        else "the program is stripped, so the places of its functions are not known"
    )
    return f"{relinked.layouts} of each build, by {relinked.linker}: {relinked.method}; {moved}"


def limits_line(plan: Plan) -> str:
    """``time 3 %, allocations 0 %``."""
    limits = [f"{metric} {share * 100:g} %" for metric, share in plan.limits.items()]
    return listed(limits, len(limits))


def gate_plan_line(plan: Plan) -> str:
    if plan.max_rounds:
        return "each build is counted twice; nothing is timed"
    warm = f"{plan.warm_up_rounds} warm-up, then " if plan.warm_up_rounds else ""
    return (
        f"{warm}rounds of {len(plan.subjects)} runs in random order"
        f"{together_words(plan)}, until every limit is decided or the time is over "
        f"({show_limit(plan.time_s)}), seed {plan.seed}"
    )


def demand_exports(files: Sequence[Path]) -> None:
    """Before anything is measured. Problems: E003 for a suffix that no form has, E050 if it cannot
    be written."""
    from heapwise.report.gate import FORMS, suffix_of

    for file in files:
        if not suffix_of(file.name):
            known = ", ".join(FORMS)
            raise Problem(
                "E003",
                f"--export {file}: the name has to end in one of {known}",
                do="heapwise gate --export gate.xml --export gate.md ...",
            )
        demand_writable(file, "--export")


def export_gate(gate: GateResult, files: Sequence[Path]) -> None:
    """Problem E050 if a file cannot be written."""
    from heapwise.report.gate import suffix_of, text

    for file in files:
        write_text(file, text(gate, suffix_of(file.name)), "--export")
        error_line(f"Saved {file}")
