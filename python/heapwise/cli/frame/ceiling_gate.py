"""``gate`` without a base: limits of what one build may need, such as ``time<=2s``."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.cli.frame.tell.console import Console
from heapwise.cli.frame.tell.gated import export_gate
from heapwise.errors import Problem
from heapwise.options import Options, taken
from heapwise.wording.durations import show_limit
from heapwise.wording.numbers import show

MARK = "<="


def parse_ceilings(words: Sequence[str]) -> dict[str, float]:
    """Metric -> the most, in its unit. Problem E003 for an unknown metric or an amount that is
    none."""
    from heapwise.cli.frame.ask.limit_form import demand_metric
    from heapwise.wording.durations import parse_duration
    from heapwise.wording.sizes import parse_size

    found = {}
    for word in words:
        typed, _, amount = word.partition(MARK)
        metric, option = demand_metric(word, typed.strip()), f"--limit {typed}{MARK}"
        if metric in ("time", "cpu_time"):
            found[metric] = parse_duration(amount.strip(), option)
        elif metric in ("peak_memory", "allocated_bytes"):
            found[metric] = float(parse_size(amount, option))
        else:
            digits = amount.strip().replace(",", "").replace("_", "")
            if not digits.isdecimal():
                raise Problem("E003", f"--limit {word}: write a number, as in {metric}{MARK}1000")
            found[metric] = float(digits)
    return found


def gate_by_ceilings(
    words: Sequence[str], limits: Sequence[str], options: Options, *, others: bool
) -> int:
    """words: the program, and its arguments. others: there is a base, or limits that need one.
    Problem E003 then, and for options that need rounds."""
    from heapwise.analysis.gate import ceiling_result, ceiling_row
    from heapwise.document.terminal import terminal
    from heapwise.runner import CompareRequest
    from heapwise.runner.process.script import find_program
    from heapwise.study.gate.ceilings import MeasuredBuild
    from heapwise.study.gate.tell import gate_sentences

    if others:
        raise Problem(
            "E003",
            f"a limit with {MARK} is of the new build alone, and others are of its base",
            why="They are two gates: one has a base, and the other runs one program.",
            do="heapwise gate --new ./new --limit 'time<=2s' -- ARGS, and another one with --base",
        )
    if options.prepare or options.setup or options.cleanup or options.output_files or options.check:
        raise Problem(
            "E003",
            "a gate without a base runs no other commands and compares no output",
            do="leave out --prepare, --setup, --cleanup, --output-file and --check",
        )
    ceilings = parse_ceilings(limits)
    program = find_program(words[0])
    request = taken(CompareRequest, options)
    console = Console(options.quiet, options.json)
    console.say(f"New          {program}")
    most = ", ".join(f"{name} at most {show(n, _unit(name))}" for name, n in ceilings.items())
    console.say(f"Limits       {most}")
    limit = f" ({show_limit(request.time_s)})" if request.time_s else ""
    console.say(f"Plan         until every limit is decided or the time is over{limit}")
    if options.dry_run:
        if console.as_json:
            console.json({"new": str(program), "limits": ceilings, "time_s": request.time_s})
        return 0
    found = MeasuredBuild([str(program), *words[1:]], request).of(ceilings)
    rows = [
        ceiling_row(metric, ceilings[metric], one.values, one.decision)
        for metric, one in found.items()
    ]
    result = ceiling_result(rows, program.name, strict=options.strict)
    console.result(terminal(gate_sentences(result)))
    export_gate(result, options.export)
    if console.as_json:
        console.json({"gate": result})
    return result.exit_code


def _unit(metric: str) -> str:
    from heapwise.analysis.gate import UNITS

    return UNITS.get(metric, "count")
