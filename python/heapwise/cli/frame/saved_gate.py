"""``gate --baseline`` and ``gate --save-baseline``: counts of one build, and those of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.cli.frame.tell.console import Console
from heapwise.cli.frame.tell.gated import export_gate
from heapwise.cli.frame.tell.written_files import demand_writable, unwritable
from heapwise.errors import Exit, Problem
from heapwise.options import Options, taken
from heapwise.wording.lists import counted
from heapwise.wording.metrics import OF_COUNTS

if TYPE_CHECKING:
    from heapwise.study.gate.saved import CountedBuild


def gate_by_file(
    words: Sequence[str],
    limits: Mapping[str, float],
    baseline: Path | None,
    save_baseline: Path | None,
    options: Options,
) -> int:
    """words: the program, and its arguments. Problem E003 for options that need rounds."""
    from heapwise.runner import CompareRequest
    from heapwise.runner.process.script import find_program
    from heapwise.study.gate.saved import CountedBuild

    _demand_counts(limits, options)
    if baseline is not None and save_baseline is not None:
        raise Problem(
            "E003",
            "--baseline and --save-baseline do not go together",
            do="--baseline to compare, --save-baseline to write the file again",
        )
    if save_baseline is not None and options.export:
        raise Problem(
            "E003",
            "--export and --save-baseline do not go together",
            why="Nothing is compared when a baseline is written.",
            do="leave out --export, or compare with --baseline",
        )
    request = taken(CompareRequest, options)
    build = CountedBuild(find_program(words[0]), list(words[1:]), request)
    console = Console(options.quiet, options.json)
    if options.dry_run:
        return _plan(build, limits, baseline, save_baseline, console)
    if save_baseline is not None:
        return _save(build, limits, save_baseline, console)
    assert baseline is not None
    return _compare(build, limits, baseline, options, console)


def _plan(
    build: CountedBuild,
    limits: Mapping[str, float],
    baseline: Path | None,
    save_baseline: Path | None,
    console: Console,
) -> int:
    """Nothing is counted, and no file is written. Problem E015 for a file that is not a
    baseline."""
    from heapwise.study.gate.saved import read_baseline

    what = f"and written to {save_baseline}"
    if baseline is not None:
        read_baseline(baseline, limits)
        what = f"and compared with those of {baseline}"
    console.say(f"New          {build.program}")
    console.say(f"Plan         {', '.join(limits)}: they are counted, {what}")
    if console.as_json:
        console.json(
            {
                "new": str(build.program),
                "limits": dict(limits),
                "baseline": baseline and str(baseline),
                "save_baseline": save_baseline and str(save_baseline),
            }
        )
    return int(Exit.DONE)


def _save(build: CountedBuild, limits: Mapping[str, float], path: Path, console: Console) -> int:
    import msgspec

    from heapwise.store.codec import encode

    demand_writable(path, "--save-baseline")
    saved = build.saved(limits)
    text = msgspec.json.format(encode(saved), indent=2)
    try:
        path.write_bytes(text + b"\n")
    except OSError as error:
        raise unwritable(path, error, "--save-baseline") from error
    for metric, counts in saved.counts.items():
        low, high = min(counts), max(counts)
        figure = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        console.result(f"{metric:16} {figure} in {counted(len(counts), 'process', 'processes')}")
    console.say(f"Saved {path}")
    if console.as_json:
        console.json(saved)
    return int(Exit.DONE)


def _compare(
    build: CountedBuild,
    limits: Mapping[str, float],
    path: Path,
    options: Options,
    console: Console,
) -> int:
    from heapwise.analysis.gate import counted_result
    from heapwise.document.terminal import terminal
    from heapwise.evidence.judged_limits import judge_counts
    from heapwise.model import GateOptions
    from heapwise.study.gate.saved import other_surroundings, read_baseline
    from heapwise.study.gate.tell import gate_sentences

    base = read_baseline(path, limits)
    found = build.against(base, limits)
    judged = [
        judge_counts(metric, limit, (base.counts[metric], found[metric]))
        for metric, limit in limits.items()
    ]
    result = counted_result(
        judged,
        GateOptions(dict(limits), options.strict),
        other_surroundings(base.surroundings, build.surroundings(limits)),
        build.program.name,
    )
    console.result(terminal(gate_sentences(result)))
    export_gate(result, options.export)
    if console.as_json:
        console.json({"gate": result})
    return result.exit_code


def _demand_counts(limits: Mapping[str, float], options: Options) -> None:
    if timed := [metric for metric in limits if metric not in OF_COUNTS]:
        raise Problem(
            "E003",
            f"--limit {timed[0]}: a file can hold counts only",
            why="Times and memory of another day, or of another machine, show nothing.",
            do=f"--limit with {', '.join(OF_COUNTS)}, or a gate with --base or --base-commit",
        )
    if options.prepare or options.setup or options.cleanup or options.output_files or options.check:
        raise Problem(
            "E003",
            "a gate with a baseline in a file runs no other commands and compares no output",
            do="leave out --prepare, --setup, --cleanup, --output-file and --check",
        )
