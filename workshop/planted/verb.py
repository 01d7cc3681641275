"""``python -m workshop planted``: the programs one after another, and how long it will take."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

import msgspec

from heapwise.document.markdown import markdown
from heapwise.machine import read_machine
from heapwise.report.pages.machine import title_of
from heapwise.wording.durations import parse_duration, show_duration
from heapwise.wording.lists import counted
from workshop.planted.judged import Looked
from workshop.planted.measure import Settings, chosen, kept, look_at
from workshop.planted.page import STEPS, WHOLE_RUNS, effect_table, page, summary

FOLDER = Path("build/workshop/planted")
OVERHEAD_S = 15.0
"""A program takes about this much longer than its comparison."""


def add_options(one: argparse.ArgumentParser) -> None:
    """What the verb can be told."""
    one.add_argument("--count", type=int, default=20, help="programs; 20 if this is left out")
    one.add_argument("--programs", default="", metavar="A,B", help="these, by name")
    one.add_argument("--percents", default="2,5,10", metavar="P,P", help="the effects: 2,5,10")
    one.add_argument("--time", default="3m", help="of each comparison: 3m")
    one.add_argument(
        "--busy",
        type=int,
        default=2 * (os.cpu_count() or 1),
        help="processes that compute beside it: two for each processor",
    )
    one.add_argument(
        "--whole-runs",
        action="store_true",
        help="plant further runs of the program in each process, not steps: the effect is exact",
    )
    one.add_argument("--options", default="", metavar="WORDS", help="more options of compare")
    one.add_argument("--folder", type=Path, default=FOLDER, metavar="DIR")
    one.add_argument("--page", type=Path, metavar="FILE.md")
    one.add_argument("--only-page", action="store_true", help="from what is in the folder")


def planted(options: argparse.Namespace) -> int:
    """Plants effects in real programs, and counts what compare says of them."""
    programs, missing = chosen(options.count, [n for n in options.programs.split(",") if n])
    percents = [float(percent) for percent in options.percents.split(",")]
    words = shlex.split(options.options)
    settings = Settings(percents, options.time, options.busy, words, options.whole_runs)
    known = {program.name: kept(options.folder, program.name) for program in programs}
    lacking = [] if options.only_page else [p for p in programs if is_lacking(known[p.name])]
    usual_s = parse_duration(options.time, "--time") + OVERHEAD_S
    for number, program in enumerate(lacking):
        left = show_duration((len(lacking) - number) * usual_s)
        print(f"{program.name}: {number + 1} of {len(lacking)}, {left} left", file=sys.stderr)
        looked = known[program.name] = look_at(program, settings, options.folder)
        usual_s = looked.minutes * 60
    found = [looked for looked in known.values() if looked]
    print("\n".join([*summary(found), "", *markdown([effect_table(found)])]))
    for each in found:
        if not each.effects:
            print(f"{each.program}: {each.said}")
    if missing:
        print(f"Not installed: {', '.join(missing)}.")
    (options.folder / "planted.json").write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    if options.page:
        text = page(found, missing, _command(options), _conditions(options))
        options.page.write_text(text, encoding="utf-8")
    return 0 if all(each.effects for each in found) else 1


def is_lacking(looked: Looked | None) -> bool:
    """Whether a program must be looked at: it was not, or that failed."""
    return looked is None or not looked.effects


def _command(options: argparse.Namespace) -> str:
    """The command of the page, with what was set."""
    which = "programs" if options.programs else "count"
    names = (which, "percents", "time", "busy", "options")
    told = [f"--{name}={getattr(options, name)}" for name in names if getattr(options, name) != ""]
    told += ["--whole-runs"] if options.whole_runs else []
    return shlex.join(["python", "-m", "workshop", "planted", *told, "--page", "FILE"])


def _conditions(options: argparse.Namespace) -> list[str]:
    """The title of the page, how effects are planted, and what each comparison had."""
    busy = counted(options.busy, "busy process", "busy processes")
    choices = [f"It had the options `{options.options}`."] if options.options else []
    return [
        f"Planted effects in real programs: {title_of(read_machine())}",
        WHOLE_RUNS if options.whole_runs else STEPS,
        f"Each comparison had {options.time}, beside {busy}.",
        *choices,
    ]
