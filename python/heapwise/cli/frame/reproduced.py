"""A reproduced report on the terminal and as files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heapwise.cli.frame.console import Console
from heapwise.cli.frame.ending import exit_code, trust_line
from heapwise.errors import Problem
from heapwise.model import PublishedReport, Setting
from heapwise.wording.lists import counted
from heapwise.wording.numbers import ends, significant

if TYPE_CHECKING:
    from heapwise.analysis.provenance import Provenance
    from heapwise.evidence import Evidence
    from heapwise.study.reproduce.reproduced import (
        JudgedConclusion,
        Ours,
        Reproduced,
        ReproducedTable,
    )

FOLDER = "reproduction"
VERDICTS = "verdicts.json"
ABSENT = "-"

STRICT_WORDS = (
    "Conclusions: each statement with our figure and the interval that decides, for a "
    "ratio that of 99 %"
)
SMOKE_WORDS = "Conclusions: a smoke run is too short to tell"

FEW = 2
"""Columns of a table whose figures are printed with their intervals."""


def report_facts(report: PublishedReport) -> dict[str, Any]:
    """What is known of it before anything is measured."""
    figures = [figure for figure in report.figures if figure.value is not None]
    return {
        "name": report.name,
        "title": report.title,
        "origin": report.origin,
        "link": report.link,
        "machines": [machine.title for machine in report.machines.values()],
        "tables": len(report.tables),
        "figures": len(figures),
        "measured": sum(figure.ours is not None for figure in figures),
        "conclusions": len(report.conclusions),
        "experiments": list(dict.fromkeys(place.experiment for place in report.places)),
    }


def newest_verdicts(store: Path) -> dict[str, dict[str, Any]]:
    """Report -> the counts of its newest run in the store; what cannot be read is passed over.
    Newest is by the runs' own order: the files are written again when an old run is shown again."""
    from heapwise.store import run_ids

    found: dict[str, dict[str, Any]] = {}
    for path in (
        path
        for run in run_ids(store)
        for path in sorted((store / "runs" / run).glob(f"{FOLDER}/*/{VERDICTS}"))
    ):
        try:
            verdicts = json.loads(path.read_text(encoding="utf-8"))
            found[str(verdicts["report"])] = {
                "run": str(verdicts["run"]),
                "counts": dict(verdicts["counts"]),
            }
        except (OSError, ValueError, KeyError, TypeError):
            continue
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
) -> int:
    """Prints tables, verdicts and counts, and writes the files. The exit code is that of a run: a
    refuted conclusion is a result. changes: as of ``reproduce``."""
    from heapwise.analysis import analyse
    from heapwise.study.reproduce.documents import to_json
    from heapwise.study.reproduce.reproduced import reproduce

    result = analyse(evidence)
    found = reproduce(evidence, report, result.trust, changes)
    console.say()
    for each in found.tables:
        console.result(table_text(each))
        console.result("")
    smoke = result.run.plan.smoke
    if found.programs:
        console.result(f"{programs_text(found.programs)}\n")
    if found.changes and not smoke:
        words = ", ".join(f"{name}={value}" for name, value in found.changes.items())
        console.result(f"Measured with {words} instead of the report's.\n")
    if found.conclusions:
        console.result(SMOKE_WORDS if smoke else STRICT_WORDS)
    for judged in found.conclusions:
        console.result(conclusion_text(judged, brief=smoke))
    counts = ", ".join(f"{number} {word}" for word, number in found.counts.items())
    console.result(f"\nCount    {counted(len(found.conclusions), 'conclusion')}: {counts}")
    console.result(f"Trust    {trust_line(result)}")
    folder = Path(output) if output else evidence.stored.path / FOLDER / report.name
    files = _write(evidence, found, folder, pdf, console)
    console.result(f"Saved    run {result.run.id}  .  {counted(len(files), 'file')} in {folder}")
    if console.as_json:
        console.json(to_json(found, result.run.id, str(folder), files))
    return exit_code(result, evidence.stored.processes, strict=strict)


def table_text(found: ReproducedTable) -> str:
    """Two columns for each of the report's: its figure, and ours. One, if it has none of its
    own."""
    table = found.table
    units = {figure.unit for figure in table.figures}
    is_ours_alone = all(figure.value is None for figure in table.figures)
    sides = ("here",) if is_ours_alone else ("published", "here")
    with_ends = is_ours_alone or len(table.columns) <= FEW
    head = [table.rows_are, *_heads(table.columns, sides)]
    lines = [
        [
            _titled(row.title, row.figures[0].unit if len(units) > 1 else ""),
            *(
                word
                for figure, ours in zip(row.figures, own, strict=True)
                for word in (figure.text, _number(ours, with_ends=with_ends))[-len(sides) :]
            ),
        ]
        for row, own in zip(table.rows, found.ours, strict=True)
    ]
    widths = [max(len(line[at]) for line in [head, *lines]) for at in range(len(head))]
    shown = [_line(line, widths) for line in [head, *lines]]
    unit = f", {units.pop()}" if len(units) == 1 else ""
    notes = dict.fromkeys(
        ours.note for own in found.ours for ours in own if ours.value is None and ours.note
    )
    return "\n".join([f"{table.title}{unit}", *shown, *(f"  {ABSENT} {note}" for note in notes)])


def programs_text(rows: Sequence[Provenance]) -> str:
    """For each row the command of the report, and ours with its version and how it was built."""
    lines = ["Commands: of the report, and here"]
    for row in rows:
        here = f"missing: {row.trouble}" if row.trouble else row.command
        lines += [
            f"  {row.title}",
            *([f"    report  {row.published}"] if row.published else []),
            f"    here    {here}",
        ]
        build = "; built with: ".join(word for word in (row.version, row.build) if word)
        lines += [f"            {build}"] if build else []
    return "\n".join(lines)


def _heads(columns: tuple[str, ...], sides: tuple[str, ...]) -> list[str]:
    """The name of a column stands over its published figures; over ours if they are alone."""
    if len(sides) == 1:
        return list(columns)
    names = columns if len(columns) > 1 else (sides[0],)
    return [word for name in names for word in (name, sides[1])]


def _titled(title: str, unit: str) -> str:
    return f"{title}, {unit}" if unit else title


def _line(words: list[str], widths: list[int]) -> str:
    first, rest = words[0].ljust(widths[0]), zip(words[1:], widths[1:], strict=True)
    return "  " + "  ".join([first, *(word.rjust(width) for word, width in rest)]).rstrip()


def _number(ours: Ours, *, with_ends: bool) -> str:
    if ours.value is None:
        return ABSENT
    if not with_ends or ours.low is None or ours.high is None:
        return significant(ours.value)
    return f"{significant(ours.value)} ({ends(ours.low, ours.high)})"


def conclusion_text(judged: JudgedConclusion, *, brief: bool = False) -> str:
    """The verdict, what it is about, and each statement with the interval that decides. brief: the
    verdict alone."""
    from heapwise.study.reproduce.reproduced import statement_text

    conclusion = judged.conclusion
    topic = f"{conclusion.topic}: " if conclusion.topic else ""
    lines = [f"{judged.verdict:17}  {topic}{conclusion.says}"]
    if brief:
        return lines[0]
    lines += [f"{'':19}{statement_text(part)}" for part in judged.parts]
    if judged.reason and all(judged.reason not in part.note for part in judged.parts):
        lines.append(f"{'':19}{judged.reason}")
    return "\n".join(lines)


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
