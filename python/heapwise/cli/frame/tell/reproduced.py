"""A reproduced report on the terminal and as files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.cli.frame.tell.console import Console
from heapwise.cli.frame.tell.ending import exit_code, trust_line
from heapwise.document.terminal import terminal
from heapwise.errors import Problem
from heapwise.model import PublishedReport, Setting
from heapwise.wording.lists import counted

if TYPE_CHECKING:
    from heapwise.analysis.provenance import Provenance
    from heapwise.evidence import Evidence
    from heapwise.study.reproduce.judged import JudgedConclusion
    from heapwise.study.reproduce.reproduced import Reproduced

FOLDER = "reproduction"
VERDICTS = "verdicts.json"

STRICT_WORDS = (
    "Conclusions: each statement with our figure and the interval that decides, for a "
    "ratio that of 99 %"
)
SMOKE_WORDS = "Conclusions: a smoke run is too short to tell"


@dataclass(frozen=True)
class ReportFacts:
    """What is known of a report before anything is measured. figures: how many it has; measured:
    how many of them we measure too."""

    name: str
    title: str
    origin: str
    link: str
    machines: list[str]
    tables: int
    figures: int
    measured: int
    conclusions: int
    experiments: list[str]


@dataclass(frozen=True)
class NewestVerdicts:
    """The newest run of a report. counts: verdict -> how many conclusions have it."""

    run: str
    counts: dict[str, int]


def report_facts(report: PublishedReport) -> ReportFacts:
    figures = [figure for figure in report.figures if figure.value is not None]
    return ReportFacts(
        name=report.name,
        title=report.title,
        origin=report.origin,
        link=report.link,
        machines=[machine.title for machine in report.machines.values()],
        tables=len(report.tables),
        figures=len(figures),
        measured=sum(figure.ours is not None for figure in figures),
        conclusions=len(report.conclusions),
        experiments=list(dict.fromkeys(place.experiment for place in report.places)),
    )


def newest_verdicts(store: Path) -> dict[str, NewestVerdicts]:
    """Report -> the counts of its newest run in the store; what cannot be read is passed over.
    Newest is by the runs' own order: the files are written again when an old run is shown again."""
    from heapwise.store import run_ids

    found: dict[str, NewestVerdicts] = {}
    folders = (store / "runs" / run for run in run_ids(store))
    for path in (path for each in folders for path in sorted(each.glob(f"{FOLDER}/*/{VERDICTS}"))):
        with suppress(OSError, ValueError, KeyError, TypeError):
            verdicts = json.loads(path.read_text(encoding="utf-8"))
            newest = NewestVerdicts(str(verdicts["run"]), dict(verdicts["counts"]))
            found[str(verdicts["report"])] = newest
    return found


def show_reproduced(
    evidence: Evidence,
    report: PublishedReport,
    console: Console,
    output: str,
    *,
    pdf: bool = False,
    strict: bool = False,
    changes: Mapping[str, Mapping[str, Setting]] | None = None,
    others: Sequence[Evidence] = (),
) -> int:
    """Prints tables, verdicts and counts, and writes the files. The exit code is that of a run: a
    refuted conclusion is a result. changes: as of ``reproduce``. others: more runs, from which
    each experiment is taken that is quieter there."""
    from heapwise.analysis import analyse
    from heapwise.study.reproduce.documents import to_json
    from heapwise.study.reproduce.reproduced import MeasuredRun, reproduce_from
    from heapwise.study.reproduce.tell import figure_passages, summary

    result = analyse(evidence)
    more = [MeasuredRun.of(each, analyse(each)) for each in others]
    found = reproduce_from([MeasuredRun.of(evidence, result), *more], report, changes)
    console.say()
    for each in found.tables:
        console.result(f"{terminal(figure_passages(each, with_title=True))}\n")
    smoke = result.run.plan.smoke
    if found.programs:
        console.result(f"{programs_text(found.programs)}\n")
    if found.conclusions:
        console.result(SMOKE_WORDS if smoke else STRICT_WORDS)
    for judged in found.conclusions:
        console.result(conclusion_text(judged, brief=smoke))
    console.result(f"\n{terminal(summary(found))}")
    console.result(f"Trust    {trust_line(result)}")
    folder = Path(output) if output else evidence.stored.path / FOLDER / report.name
    files = _write(evidence, found, folder, pdf, console)
    console.result(f"Saved    run {result.run.id}  .  {counted(len(files), 'file')} in {folder}")
    if console.as_json:
        console.json(to_json(found, result.run.id, str(folder), files))
    return exit_code(result, evidence.stored.processes, strict=strict)


def programs_text(rows: Sequence[Provenance]) -> str:
    """For each row the command of the report, and ours with its version and how it was built."""
    lines = ["Commands: of the report, and here"]
    for row in rows:
        told = {
            "    report  ": row.published,
            "    here    ": f"missing: {row.trouble}" if row.trouble else row.command,
            "            ": "; built with: ".join(filter(None, (row.version, row.build))),
        }
        lines += [f"  {row.title}", *(f"{label}{text}" for label, text in told.items() if text)]
    return "\n".join(lines)


def conclusion_text(judged: JudgedConclusion, *, brief: bool = False) -> str:
    """The verdict, what it is about, each statement with the interval that decides, and what the
    author's program says. brief: the verdict alone."""
    from heapwise.study.reproduce.author import AUTHORS_PROGRAM
    from heapwise.study.reproduce.judged import judged_lines, source_text
    from heapwise.study.reproduce.tell import author_text

    conclusion = judged.conclusion
    lines = [f"{conclusion.topic}: {conclusion.says}" if conclusion.topic else conclusion.says]
    if not brief:
        lines[0] += f" ({source_text(judged)})" if conclusion.source == "figures" else ""
        lines += judged_lines(judged)
    if judged.author:
        lines.append(f"{AUTHORS_PROGRAM}: {author_text(judged.author)}")
    labels = [judged.verdict, *[""] * len(lines)]
    return "\n".join(f"{label:17}  {line}" for label, line in zip(labels, lines, strict=False))


def _write(
    evidence: Evidence, found: Reproduced, folder: Path, pdf: bool, console: Console
) -> list[str]:
    """The names of the files: CSV, pictures, the page of the run, and the verdicts."""
    from heapwise.figures.svg import plain_colours
    from heapwise.report import View, build_page
    from heapwise.study.reproduce.charts import charts, svg
    from heapwise.study.reproduce.documents import figures_csv
    from heapwise.study.reproduce.raster import can_raster, raster

    contents: dict[str, bytes] = {
        "figures.csv": figures_csv(found).encode(),
        "report.html": build_page([View(evidence)]).encode(),
        VERDICTS: json.dumps(
            {"report": found.report.name, "run": evidence.stored.run.id, "counts": found.counts},
            indent=2,
        ).encode(),
    }
    for chart in charts(found):
        contents[f"{chart.name}.svg"] = plain_colours(svg(chart)).encode()
        for form in (("png", "pdf") if pdf else ("png",)) if can_raster() else ():
            contents[f"{chart.name}.{form}"] = raster(chart, form)
    if not can_raster():
        console.say(
            "Pictures are SVG only: PNG and PDF need matplotlib. "
            "Install it with pip install 'heapwise[figures]'."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise Problem(
            "E050",
            f"{folder} cannot be written: {error.strerror}",
            do="--output FOLDER that you may write to",
        ) from error
    return sorted(contents)
