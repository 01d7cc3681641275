"""``python -m workshop``: what only this project asks. Run it in the root of the repository."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from heapwise.analysis import analyse
from heapwise.analysis.verdicts.rows import make_rows
from heapwise.analysis.verdicts.standing import standings
from heapwise.evidence import Evidence
from heapwise.store import find_store, read_run
from heapwise.study.attacks.attack_tables import attack_tables
from heapwise.trust import check_run
from workshop.agreement import agreement
from workshop.aims import goal_line, goals, losses
from workshop.aims.attacks import shortcomings
from workshop.aims.goal import worst_first
from workshop.busy_demo import QUIET, measure, quiet_ratios, summary, told
from workshop.planted.verb import add_options as add_options_of_planted
from workshop.planted.verb import planted
from workshop.programs import program_names, write_programs
from workshop.questions import ask, kept_runs, page, question_names, read_question
from workshop.questions.question import FOLDER
from workshop.ratios import ratios
from workshop.rl_page import page as rl_page
from workshop.rl_page import record_all, write_tables
from workshop.second_level import compared_peers, second_level, second_level_page
from workshop.usual_costs import write_usual_costs

ASPECTS = ("speed", "latency", "memory", "other")


def main() -> int:
    """The command. Returns the exit status."""
    options = _options()
    status: int = options.verb(options)
    return status


def _read(options: argparse.Namespace, run: str) -> Evidence:
    return Evidence(read_run(find_store(options.store), run))


def aims(options: argparse.Namespace) -> int:
    """What the project aims at, and whether a run shows it. Returns 1 if an aim is not met."""
    evidence = _read(options, options.run)
    found = goals(evidence, check_run(evidence))
    for goal in found:
        print(goal_line(goal))
        for part in worst_first(goal) if options.rows else []:
            print(f"    {goal_line(part)}")
    lines = [*losses(evidence), *shortcomings(attack_tables(analyse(evidence)))]
    print("\n".join(lines) if found or lines else "No aim of the project is about this run.")
    return 1 if any(goal.verdict == "not met" for goal in found) else 0


def questions(options: argparse.Namespace) -> int:
    """Measures what a question lacks, and writes its page."""
    file = FOLDER / f"{options.question}.toml"
    question, folder = read_question(file), options.folder or Path("build/workshop") / file.stem
    settings = dict(word.split("=", 1) for word in options.set)
    asked = kept_runs(folder) if options.only_page else ask(question, folder, settings)
    text = page(file.stem, question, asked, folder)
    if options.page:
        options.page.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0 if asked and all(each.run for each in asked) else 1


def print_second_level(options: argparse.Namespace) -> int:
    """Measures the rows of the heap's second level, and prints them as ratios to the best peer."""
    question, folder = read_question(FOLDER / "second-level.toml"), options.folder
    settings = dict(word.split("=", 1) for word in options.set)
    asked = [] if options.only_counts else ask(question, folder, settings)
    found = [Evidence(read_run(folder / "store", each.run)) for each in asked if each.run]
    evidences = [(evidence, check_run(evidence)) for evidence in found]
    lines = second_level(evidences, options.turns)
    lines += [f"Not measured: {each.said}" for each in asked if not each.run]
    if options.page:
        text = second_level_page(lines, compared_peers())
        options.page.write_text(text, encoding="utf-8")
    else:
        print("\n".join(lines))
    return 0 if all(each.run for each in asked) else 1


def print_ratios(options: argparse.Namespace) -> int:
    """A run's ratios of one subject to others that are not its baseline."""
    found = _read(options, options.run)
    for aspect in options.aspects.split(","):
        rows = [standing for standing in standings(found) if standing.aspect == aspect]
        print(f"{aspect}:\n")
        print("\n".join(ratios(found, rows, options.subject, options.against.split(","))), "\n")
    return 0


def print_agreement(options: argparse.Namespace) -> int:
    """Whether a replay predicts a comparison. Returns 1 if an allocator disagrees for certain."""
    compared, replayed = (
        analyse(_read(options, run)) for run in (options.compared, options.replayed)
    )
    pairs = sorted(agreement(compared, replayed), key=lambda pair: pair.allocator)
    print("\n".join(map(str, pairs)) or "The two runs have no allocator beside the baseline.")
    return 1 if any(pair.is_sure and not pair.agrees for pair in pairs) else 0


def programs(options: argparse.Namespace) -> int:
    """Prepares the real programs, for the commands of questions."""
    write_programs(options.folder.absolute(), program_names())
    return 0


def rl(options: argparse.Namespace) -> int:
    """Records the programs of RL and inference, and writes their tables or their page."""
    works = record_all(options.folder.absolute())
    if options.tables:
        write_tables(works)
    if options.page:
        run = options.run and _read(options, options.run)
        options.page.write_text(rl_page(works, run or None), encoding="utf-8")
    return 0


def busy_demo(options: argparse.Namespace) -> int:
    """The comparison of make demo beside busy loops. Returns 1 if a verdict is wrong, or if fewer
    than ``--least`` allocators are told apart."""
    quiet = quiet_ratios(_read(options, options.quiet)) if options.quiet else QUIET
    store = find_store(options.store)
    if options.run:
        evidence = _read(options, options.run)
    else:
        evidence = measure(store, options.loops, options.time)
    found = told(make_rows(evidence), quiet)
    print(*found, summary(found), sep="\n")
    apart = sum(one.is_told for one in found)
    return 1 if apart < options.least or any(one.is_wrong for one in found) else 0


def usual_costs(options: argparse.Namespace) -> int:
    """Writes what a process of each experiment takes into the package."""
    write_usual_costs(options.stores)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workshop")
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, function: object) -> argparse.ArgumentParser:
        one = verbs.add_parser(name, help=(function.__doc__ or "").partition(".")[0])
        one.set_defaults(verb=function)
        return one

    one = verb("aims", aims)
    one.add_argument("run", metavar="RUN", help="its id, or the start of it")
    one.add_argument("--store", type=Path, metavar="DIR")
    one.add_argument("--rows", action="store_true", help="each row of an aim, the worst first")
    one = verb("ask", questions)
    one.add_argument("question", choices=question_names())
    one.add_argument("--folder", type=Path, metavar="DIR", help="of the runs: build/workshop/NAME")
    one.add_argument("--page", type=Path, metavar="FILE.md")
    one.add_argument("--only-page", action="store_true", help="from the runs that are there")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    one = verb("second-level", print_second_level)
    one.add_argument("--folder", type=Path, default=Path("build/workshop/second-level"))
    one.add_argument("--page", type=Path, metavar="FILE.md")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    one.add_argument("--only-counts", action="store_true", help="they need no quiet machine")
    one.add_argument("--turns", type=int, default=11, metavar="N", help="0: nothing is counted")
    one = verb("ratios", print_ratios)
    one.add_argument("run", metavar="RUN")
    one.add_argument("--subject", required=True, metavar="NAME")
    one.add_argument("--against", required=True, metavar="A,B")
    one.add_argument("--aspects", default="speed", metavar="A,B", help=", ".join(ASPECTS))
    one.add_argument("--store", type=Path, metavar="DIR")
    one = verb("agreement", print_agreement)
    one.add_argument("compared", metavar="COMPARE_RUN")
    one.add_argument("replayed", metavar="REPLAY_RUN")
    one.add_argument("--store", type=Path, metavar="DIR")
    add_options_of_planted(verb("planted", planted))
    verb("programs", programs).add_argument("folder", type=Path)
    one = verb("rl", rl)
    one.add_argument("folder", type=Path, help="of the recordings")
    one.add_argument("--tables", action="store_true", help="those of heap/rl_measured")
    one.add_argument("--page", type=Path, metavar="FILE.md")
    one.add_argument("--run", metavar="RUN", help="of heap/rl_programs, for the page")
    one.add_argument("--store", type=Path, metavar="DIR")
    one = verb("busy-demo", busy_demo)
    one.add_argument("--loops", type=int, default=3, metavar="N")
    one.add_argument(
        "--time", default="3m", metavar="DURATION", help="3m, as make demo on a busy machine"
    )
    one.add_argument("--least", type=int, default=4, metavar="N")
    one.add_argument("--quiet", metavar="RUN", help="a run of the same on a quiet machine")
    one.add_argument("--run", metavar="RUN", help="judge this one, and measure nothing")
    one.add_argument("--store", type=Path, metavar="DIR")
    verb("usual-costs", usual_costs).add_argument("stores", nargs="+", metavar="STORE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
