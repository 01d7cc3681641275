"""The page about programs of RL and inference: their calls of malloc, and advice for each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from heapwise.document.markdown import markdown, table
from heapwise.evidence import Evidence
from heapwise.model import PROGRAM, Result, Row, short_name
from heapwise.report import View
from heapwise.report.pages.machine import machine_table, title_of
from heapwise.study.reproduce.allocator_advice import advice, advice_by_allocator
from heapwise.wording.numbers import percent
from workshop.programs import program_names, write_programs
from workshop.recorded_work import REPORTED, SMALL, TABLE, Work, cpp, read_work

EXPERIMENT = "heap/rl_programs"
LIMITS = (16, 64, 512, 4096, 65536)
MIB = 1 << 20
COLUMNS = {
    "cpu": "processor time",
    "peak_resident": "peak",
    "end_memory": "work done",
    "after_idle": "after 2 s of idleness",
}


def record_all(folder: Path) -> list[Work]:
    """Effects: records each program that ``folder`` has no recording of. The order is by name."""
    names = program_names(EXPERIMENT)
    write_programs(folder, names)
    for name in names:
        file = folder / name / "work.hwt"
        if not file.exists():
            command = ["record", "-q", "--stacks", "none", "-o", str(file), "--"]
            subprocess.run(
                [sys.executable, "-m", "heapwise", *command, "sh", str(folder / name / "run.sh")],
                env=os.environ
                | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))},
                stdout=subprocess.DEVNULL,
                check=True,
            )
    return [read_work(name, folder / name / "work.hwt") for name in names]


def write_tables(works: Sequence[Work]) -> None:
    """Effects: the tables of heap/rl_measured are those of the recordings."""
    TABLE.write_text(cpp(works), encoding="utf-8")


def page(works: Sequence[Work], evidence: Evidence | None) -> str:
    """As Markdown. evidence: of a run of heap/rl_programs; None: what was recorded alone."""
    view = View(evidence) if evidence else None
    lines = [
        "<!-- Made by `python -m workshop rl FOLDER --page FILE`; do not edit. -->",
        "",
        "# RL and inference: what programs ask of malloc, and which one suits them"
        + (f": {title_of(view.run.machine)}" if view else ""),
        "",
        *_introduction(works),
        *_asked(works),
        *_sizes(works),
    ]
    if evidence and view:
        lines += [*_figures(view, works), "## The machine", "", *markdown([machine_table(view)])]
    return "\n".join(lines)


def _introduction(works: Sequence[Work]) -> Iterator[str]:
    mostly = [work for work in works if work.small >= 0.9]
    heavy = [work for work in works if work.small_bytes >= 0.5]
    again = [work.again for work in works]
    share = [work.share for work in works]
    middle = sorted(work.median_life for work in works)[len(works) // 2]
    yield from (
        "AllocatorBench measures allocators for reinforcement learning and inference with a tape: "
        f"blocks of 16 to {SMALL} bytes, and an allocation with a probability of "
        f"{REPORTED:.0%}. The programs here do such work. Each was recorded between the end "
        "of its start and the end of its work.",
        "",
        f"- **16 to {SMALL} bytes?** By number yes: in {len(mostly)} of {len(works)} programs at "
        f"least 90 % of the blocks have at most {SMALL} bytes. By bytes no: these blocks have "
        f"at least half of the bytes in {len(heavy)} of {len(works)} programs.",
        f"- **{REPORTED:.0%} allocations?** No. Over the whole work, {percent(min(share))} to "
        f"{percent(max(share))} of the calls allocate, because what is allocated is freed soon. "
        "The chance that an allocation follows an allocation depends on the program: "
        f"{percent(min(again))} to {percent(max(again))}.",
        "- **Which blocks to free?** The tape frees random blocks. The programs free most blocks "
        f"soon: half of them after at most {middle:.0f} "
        "other allocations in the median program.",
        "",
        "`heap/rl_measured` plays tapes with these sizes and lifetimes beside the report's.",
        "",
    )


def _asked(works: Sequence[Work]) -> Iterator[str]:
    yield from (
        "## What the work asks for",
        "",
        "Life: how many other blocks are allocated before half of the blocks are freed. Stays: "
        "blocks that are not freed before the work ends. Handed over: freed by another thread.",
        "",
    )
    head = [
        "program",
        "blocks",
        "MiB",
        f"at most {SMALL} B",
        "their bytes",
        "calls that allocate",
        "allocation after allocation",
        "life",
        "stays",
        "threads",
        "handed over",
    ]
    rows = [
        [
            work.name,
            f"{work.allocations:,}",
            f"{work.bytes / MIB:,.0f}",
            percent(work.small),
            percent(work.small_bytes),
            percent(work.share),
            percent(work.again),
            f"{work.median_life:,.0f}",
            percent(work.stays),
            str(work.threads),
            percent(work.handed_over),
        ]
        for work in works
    ]
    yield from (*table(head, rows), "")


def _sizes(works: Sequence[Work]) -> Iterator[str]:
    names = [f"to {limit:,} B" for limit in LIMITS] + ["larger"]
    rows = []
    for work in works:
        edges = [0, *LIMITS, 1 << 62]
        shares = [
            sum(row.weight for row in work.rows if low < row.limit <= high)
            for low, high in pairwise(edges)
        ]
        rows.append([work.name, *map(percent, shares)])
    yield from ("## Sizes, by number of blocks", "", *table(["program", *names], rows), "")


def _figures(view: View, works: Sequence[Work]) -> Iterator[str]:
    result, run = view.result, view.run
    load = run.machine.facts.quiet.load or [0.0]
    yield from (
        "## Under each allocator",
        "",
        f"Run {run.id} of {run.created[:10]}, {_rounds(result)} round(s) on a "
        f"machine with a load of {load[0]:.1f}. "
        "Each figure is a median; in brackets its ratio to glibc, if it was shown to "
        "differ. Fewer than three rounds show no difference.",
        "",
    )
    for work in works:
        rows = [row for row in result.rows if _is_of(row, work.name)]
        if not any(row.median for row in rows):
            continue
        yield from (f"### {work.name}", "", advice(rows), "")
        subjects = list(dict.fromkeys(row.subject for row in rows))
        said = {f"malloc@{name}": words for name, words in advice_by_allocator(rows)}
        yield from table(
            ["allocator", *COLUMNS.values(), "advice"],
            [
                [short_name(one), *(_cell(rows, one, name) for name in COLUMNS), said.get(one, "")]
                for one in subjects
            ],
        )
        yield ""


def _rounds(result: Result) -> int:
    return max((row.n for row in result.rows), default=0)


def _is_of(row: Row, name: str) -> bool:
    return row.experiment == EXPERIMENT and row.parameters.get(PROGRAM) == name


def _cell(rows: Sequence[Row], subject: str, quantity: str) -> str:
    row = next((r for r in rows if (r.subject, r.quantity) == (subject, quantity)), None)
    if row is None or row.median is None:
        return "-"
    text = f"{row.median / MIB:,.1f} MiB" if row.unit == "bytes" else f"{row.median:.3g} {row.unit}"
    known = row.verdict in ("better", "worse")
    return f"{text} ({row.ratio:.2f})" if known and row.ratio else text
