"""``heapwise reproduce``: a published report on this machine, figure by figure."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask import completion
from heapwise.cli.frame.ask.signature import with_options
from heapwise.cli.frame.tell.console import Console, error_line
from heapwise.errors import Problem
from heapwise.options import Options, taken
from heapwise.wording.lists import counted

if TYPE_CHECKING:
    from heapwise.model import AuthorOutput, PublishedReport


def register(app: typer.Typer) -> None:
    app.command("reproduce", short_help="Measure a published report again, and judge it.")(
        with_options(reproduce)
    )


def reproduce(
    options: Options,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            autocompletion=completion.reports,
            help="A report, or its file. [list them]",
        ),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN",
            help="Measure nothing: read this run; of several, the quieter one for each experiment.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="For the files. [the run's folder]"),
    ] = None,
    pages: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Measure nothing: write pages of the newest runs."),
    ] = None,
    pdf: Annotated[bool, typer.Option("--pdf", help="Each picture as PDF, too.")] = False,
) -> int:
    """Run the experiments of a published report, print its figures beside ours, and judge its
    conclusions.

    \b
    heapwise reproduce                             which reports there are
    heapwise reproduce pool-vs-malloc              an estimate first, then the run
    heapwise reproduce latency-lab --smoke         quickly, to see that all of it works
    heapwise reproduce pool-vs-malloc --run 7f3a   the same from a run that was made already
    heapwise reproduce pool-vs-malloc --run 7f3a --run 81c2
                                                   each experiment from its quieter run
    heapwise reproduce pool-vs-malloc --run 7f3a --author-output bench.tsv
                                                   beside what the author's program printed here
    heapwise reproduce --pages docs/results        a page of each report for this machine
    """
    console = Console(options.quiet, options.json)
    if options.author_outputs and (name is None or pages is not None or options.fleet is not None):
        raise Problem(
            "E003",
            "--author-output needs the name of a report, and neither --pages nor --fleet",
            do="heapwise reproduce NAME --author-output FILE",
        )
    if pages is not None:
        from heapwise.cli.frame.tell.result_pages import write_results
        from heapwise.store import find_store

        return write_results(
            find_store(options.store),
            pages,
            console,
            name=name,
            runs=run or [],
            smoke=options.smoke,
            settings=options.settings,
        )
    if name is None:
        return _list(console, options.store)
    if options.fleet is not None:
        from heapwise.cli.frame.ask.fleet_form import measure_on_fleet

        return measure_on_fleet(options, console)
    folder = str(output.absolute()) if output else ""
    if run:
        if options.dry_run:
            raise Problem(
                "E003",
                "--run measures nothing, so --dry-run has nothing to plan",
                do=f"heapwise reproduce {name} --run {run[0]}",
            )
        return _read(name, run, folder, pdf, options, console)

    from heapwise.catalog import choose_published
    from heapwise.cli.frame.measure import estimated, measure_or_plan
    from heapwise.cli.frame.tell.announce import announce
    from heapwise.runner import RunRequest
    from heapwise.store import costs, find_store
    from heapwise.study.reproduce.ask import prepare_reproduction

    report = choose_published(name)
    outputs = _author_outputs(report, options)
    source = _source(name)
    prepared = prepare_reproduction(
        report,
        source,
        taken(RunRequest, options),
        os.environ,
        output=folder,
        pdf=pdf,
        author_outputs=outputs,
    )
    known = costs(find_store(options.store), options.smoke, source)
    console.say(f"Report       {report.title}")
    console.say(f"             {report.origin}")
    announce(prepared, console, known)
    return measure_or_plan(prepared, options, console, estimated(prepared, known))


def _source(name: str) -> str:
    """By which a later invocation finds the report, from any folder."""
    return str(Path(name).absolute()) if name.endswith(".toml") else name


def _author_outputs(report: PublishedReport, options: Options) -> list[AuthorOutput]:
    """Problem E015 for a file without figures of the report, before anything is measured."""
    if not options.author_outputs:
        return []
    from heapwise.catalog.author_output import read_author_output
    from heapwise.study.reproduce.author import demand_figures

    outputs = [read_author_output(path) for path in options.author_outputs]
    demand_figures(report, outputs)
    return outputs


def _list(console: Console, store: str | None) -> int:
    from heapwise.catalog import find_published
    from heapwise.cli.frame.tell.reproduced import newest_verdicts, report_facts
    from heapwise.store import find_store

    reports, problems = find_published()
    newest = newest_verdicts(find_store(store))
    if console.as_json:
        console.json(
            [
                asdict(report_facts(report)) | {"last": last and asdict(last)}
                for report in reports
                for last in [newest.get(report.name)]
            ]
        )
    else:
        width = max((len(report.name) for report in reports), default=0)
        for report in reports:
            facts = report_facts(report)
            console.result(f"{report.name.ljust(width)}  {report.title}")
            gap = " " * (width + 2)
            console.result(
                f"{gap}{'; '.join(facts.machines)}: {counted(facts.tables, 'table')}, "
                f"{counted(facts.figures, 'figure')} ({facts.measured} measured here), "
                f"{counted(facts.conclusions, 'conclusion')}"
            )
            if last := newest.get(report.name):
                counts = ", ".join(f"{n} {word}" for word, n in last.counts.items())
                console.result(f"{gap}last run {last.run}: {counts}")
        if not reports:
            console.result("There is no published report here.")
    for problem in problems:
        error_line(f"left out: {problem.what}")
    return 0


def _read(
    name: str,
    runs: list[str],
    output: str,
    pdf: bool,
    options: Options,
    console: Console,
) -> int:
    """What an earlier run of the same experiments says; it need not be one of this verb."""
    from heapwise.catalog import choose_published
    from heapwise.cli.frame.tell.one_machine import demand_one_machine
    from heapwise.cli.frame.tell.reproduced import show_reproduced
    from heapwise.evidence import Evidence
    from heapwise.store import find_store, read_run
    from heapwise.study.reproduce.ask import changes_of

    stored, *more = (read_run(find_store(options.store), run) for run in runs)
    for each in (stored, *more):
        if each.run.plan.traits.whole_programs:
            raise Problem(
                "E003",
                f"run {each.run.id} compares a program: it has no experiments",
                do=f"heapwise reproduce {name}",
            )
    report = choose_published(name)
    if outputs := _author_outputs(report, options):
        from heapwise.study.reproduce.author import with_author

        stored = with_author(stored, _source(name), outputs)
    changes = (
        changes_of(report, stored.run.experiments, options.settings) if options.settings else None
    )
    evidence, *others = map(Evidence, (stored, *more))
    demand_one_machine([evidence, *others])
    return show_reproduced(
        evidence,
        report,
        console,
        output,
        pdf=pdf,
        strict=options.strict,
        changes=changes,
        others=others,
    )
