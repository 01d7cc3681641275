"""``heapwise gate``: fails if a new build is worse than its base by more than a limit."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask.command_form import for_each
from heapwise.cli.frame.ask.limit_form import parse_limits
from heapwise.cli.frame.ask.relink_form import only_programs
from heapwise.cli.frame.ask.signature import with_options
from heapwise.cli.frame.tell.console import Console
from heapwise.errors import Exit, Problem
from heapwise.options import Options, taken
from heapwise.wording.metrics import OF_GATE

if TYPE_CHECKING:
    from heapwise.model import BuildPlace, Relinked
    from heapwise.study.gate.ask import GateRequest

BASE, NEW = "base", "new"


def register(app: typer.Typer) -> None:
    app.command(
        "gate",
        short_help="Fail if a new build is worse than its base.",
        context_settings={"allow_interspersed_args": False},
    )(with_options(gate))


def gate(
    context: typer.Context,
    options: Options,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- [ARGS]...", help="Arguments of both programs.", show_default=False
        ),
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="The program before the change.")
    ] = None,
    new: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="The program with the change.")
    ] = None,
    base_commit: Annotated[
        str | None, typer.Option(metavar="REV", help="Build the base from this commit.")
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=N%",
            help=f"{', '.join(OF_GATE)}: each may grow by this much. Or at most, as in "
            "'time<=2s', which needs no base. Repeatable.",
        ),
    ] = None,
    baseline_file: Annotated[
        Path | None,
        typer.Option(
            "--baseline",
            metavar="FILE",
            help="Compare counts with those of this file, not of a base.",
        ),
    ] = None,
    save_baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the counts of --new to this file.")
    ] = None,
    measure_identical: Annotated[
        bool, typer.Option("--measure-identical", help="Measure even if both are the same program.")
    ] = False,
    pass_without_base: Annotated[
        bool,
        typer.Option(
            "--pass-without-base",
            help="End with 0 if --base-commit is before the first commit or cannot be built.",
        ),
    ] = False,
) -> int:
    """Measure two builds side by side and fail if one metric grew by more than its limit.

    \b
    heapwise gate --base ./old --new ./new --limit time=3% --limit allocations=0 -- ARGS
    heapwise gate --base-commit main --build-command make --new ./app --limit time=3%
    heapwise gate --base-commit main --build-command make --relink 12 --new ./app --limit time=3%
    heapwise gate --base ./old --new ./new --limit time=3% --export gate.xml --export gate.md
    heapwise gate --save-baseline counts.json --new ./app --limit allocations=0
    heapwise gate --baseline counts.json --new ./app --limit allocations=0
    heapwise gate --new ./app --limit 'time<=2s' --limit 'memory<=64MiB' -- ARGS

    Both builds are measured now, in the same rounds and in random order. A regression is confirmed
    in new rounds. Exit codes: 0 no limit is exceeded, 1 a metric regressed, 3 a program failed, 4
    the noise of this machine is larger than a limit (with --strict also if a metric is undecided).
    """
    console = Console(options.quiet, options.json)
    if options.fleet is not None and options.relink:
        raise only_programs("the machines of a fleet get programs and not their sources")
    if options.fleet is not None:
        from heapwise.cli.frame.ask.fleet_form import measure_on_fleet

        return measure_on_fleet(options, console)
    from heapwise.cli.frame.tell.gated import demand_exports
    from heapwise.model import Build, BuildPlace
    from heapwise.runner import CompareRequest, NoBaseError, built_commit
    from heapwise.study.gate.ask import GateRequest

    demand_exports(options.export)
    _demand_one_base(
        base or base_commit, baseline_file, save_baseline, "--base" if base else "--base-commit"
    )
    absolute = [word for word in limit or [] if "<=" in word]
    if not base_commit and (absolute or baseline_file or save_baseline):
        _demand_no_build(context)
    if absolute and new is not None:
        from heapwise.cli.frame.ceiling_gate import gate_by_ceilings

        words = [_path(new), *(arguments or [])]
        with_base = bool(base or base_commit or baseline_file or save_baseline)
        others = with_base or len(absolute) < len(limit or [])
        return gate_by_ceilings(words, absolute, options, others=others)
    limits = parse_limits(limit or [])
    if new is not None and (baseline_file or save_baseline) and not (base or base_commit):
        from heapwise.cli.frame.saved_gate import gate_by_file

        words = [_path(new), *(arguments or [])]
        return gate_by_file(words, limits, baseline_file, save_baseline, options)
    if new is None or (base is None) == (base_commit is None):
        raise Problem(
            "E003",
            "gate needs --new, and one of --base, --base-commit, --baseline and --save-baseline",
            do="heapwise gate --base ./old --new ./new --limit time=3%, or without a base: "
            "--limit 'time<=2s'",
        )
    if (base_commit is None) != (options.build_command is None):
        raise Problem(
            "E003",
            "--base-commit and --build-command go together",
            do="heapwise gate --base-commit main --build-command make --new ./app ...",
        )
    if options.relink and base_commit is None:
        raise only_programs("gate has two programs and not their sources")
    with ExitStack() as stack:
        before, after, places = base or "", new, list[BuildPlace]()
        relinked: Relinked | None = None
        if base_commit is not None and options.build_command is not None:
            command = options.build_command
            layouts = options.relink or 0
            again = f", with {layouts} layouts of each" if layouts else ""
            console.say(f"Building     {base_commit} and the working tree: {command}{again}")
            try:
                trees = stack.enter_context(
                    built_commit(base_commit, command, Path(new), os.environ, layouts)
                )
            except NoBaseError as problem:
                if not pass_without_base:
                    raise
                return _without_base(problem, base_commit, console)
            places, relinked = [trees.base, trees.head], trees.relinked
            before, after = (place.program for place in places)
        request = GateRequest(
            taken(
                CompareRequest,
                options,
                builds=[
                    Build(
                        name,
                        [_path(program), *(arguments or [])],
                        [typed or program, *(arguments or [])],
                        prepare=before_each,
                        setup=before_all,
                        cleanup=after_all,
                    )
                    for name, program, typed, before_each, before_all, after_all in zip(
                        (BASE, NEW),
                        (before, after),
                        (base or new, new),
                        for_each("prepare", options.prepare, 2),
                        for_each("setup", options.setup, 2),
                        for_each("cleanup", options.cleanup, 2),
                        strict=True,
                    )
                ],
            ),
            limits,
            options.strict,
            relinked,
        )
        return _decide(request, places, options, console, measure_identical=measure_identical)


def _demand_one_base(
    base: str | None, baseline_file: Path | None, save_baseline: Path | None, option: str
) -> None:
    """Problem E003 for a file beside another base: one of both would be passed over."""
    if not base:
        return
    if baseline_file is not None:
        raise Problem(
            "E003",
            f"{option} and --baseline are two bases",
            do="leave out one of both",
        )
    if save_baseline is not None:
        raise Problem(
            "E003",
            f"{option} and --save-baseline do not go together",
            why="The file holds counts of --new alone.",
            do="heapwise gate --save-baseline counts.json --new ./app --limit allocations=0",
        )


def _demand_no_build(context: typer.Context) -> None:
    """Problem E003 for options of --base-commit that were typed where nothing is built. Settings
    are for other gates, too."""
    found = [
        max(each.opts, key=len)
        for each in context.command.params
        if {"--relink", "--build-command", "--pass-without-base"} & {*each.opts}
        and getattr(context.get_parameter_source(str(each.name)), "name", "") == "COMMANDLINE"
    ]
    if found:
        raise Problem(
            "E003",
            f"{', '.join(found)}: this gate builds nothing",
            why="Limits with <= and a file of counts need the new program only.",
            do=f"leave out {' and '.join(found)}, or name a base with --base-commit",
        )


def _without_base(problem: Problem, base_commit: str, console: Console) -> int:
    """Tells that nothing was compared, and why."""
    console.say(problem.what.strip())
    console.result(f"Gate     no base: nothing was compared with {base_commit}, and no limit holds")
    if console.as_json:
        console.json({"gate": None, "no_base": problem.what.strip()})
    return int(Exit.DONE)


def _path(program: str) -> str:
    """A file of this folder is meant before one of PATH: both options name files."""
    return f"./{program}" if "/" not in program and Path(program).is_file() else program


def _decide(
    request: GateRequest,
    places: list[BuildPlace],
    options: Options,
    console: Console,
    *,
    measure_identical: bool,
) -> int:
    from heapwise.analysis.gate import identical_result
    from heapwise.catalog.same_build import same_build
    from heapwise.cli.frame.measure import measure
    from heapwise.cli.frame.tell.gated import announce_gate, export_gate
    from heapwise.document.terminal import terminal
    from heapwise.evidence.judged_limits import COUNTED
    from heapwise.runner import common_place
    from heapwise.study.gate.ask import placed, prepare_gate
    from heapwise.study.gate.tell import gate_sentences

    prepared = prepare_gate(request, os.environ)
    announce_gate(prepared, console)
    old, new = (Path(one.build.program) for one in prepared.examined)
    if not measure_identical and (note := same_build(old, new)):
        found = identical_result(BASE, NEW, dict(request.limits), note, new.name)
        console.result(terminal(gate_sentences(found)))
        export_gate(found, options.export)
        if console.as_json:
            console.json({"gate": found})
        return found.exit_code
    if options.dry_run:
        if console.as_json:
            console.json(prepared.plan)
        return 0
    if places or not request.limits.keys() & COUNTED.keys():  # times are not exact anyway
        return measure(placed(prepared, places, ""), options, console).code
    with common_place(old, new) as common:
        return measure(placed(prepared, common.places, common.uneven), options, console).code
