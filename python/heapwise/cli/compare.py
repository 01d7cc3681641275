"""``heapwise compare``: programs side by side, or one program under every allocator."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask.command_form import (
    TAIL,
    CommandWords,
    CompareCommand,
    parse_parameters,
)
from heapwise.cli.frame.ask.scan import scanned
from heapwise.cli.frame.ask.shell_choice import shell_words
from heapwise.cli.frame.ask.signature import with_options
from heapwise.cli.frame.tell.console import Console, error_line
from heapwise.cli.frame.tell.exports import demand_exports
from heapwise.errors import Exit, Problem
from heapwise.options import Options, taken

if TYPE_CHECKING:
    from heapwise.model import Result


def register(app: typer.Typer) -> None:
    app.command(
        "compare",
        cls=CompareCommand,
        short_help="Run programs side by side, or one under every allocator.",
        options_metavar="[OPTIONS]",
    )(with_options(compare))


def compare(
    context: typer.Context,
    options: Options,
    commands: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND... | -- PROGRAM ARGS",
            show_default=False,
            help="Command lines, or one program with its arguments.",
        ),
    ] = None,
) -> int:
    """Compare programs, or one program under every allocator, in time and memory.

    \b
    heapwise compare './old --bench' './new --bench'
    heapwise compare --build old=./a --build new=./b -- --bench
    heapwise compare -L threads 1,2,4 './old {threads}' './new {threads}'
    heapwise compare -- ./server --bench               under every allocator
    heapwise compare --markdown --output-file big.o -- cc -O2 -c big.c -o big.o

    Each argument before -- is a whole command line. The words after -- are one program with its
    arguments; it is measured under every allocator. The baseline is the first command, or the
    allocator that the program uses today. In each round everything runs once, in random order.
    Rounds are added until every 95 % interval is within --precision, or until --time is over,
    which is 3 minutes by default. Ctrl-C shows what was measured so far, and heapwise resume goes
    on.
    """
    if options.json and options.markdown:
        raise Problem(
            "E003", "--json and --markdown both write to stdout", do="--markdown --export run.json"
        )
    console = Console(options.quiet, options.json, options.markdown)
    if options.fleet is not None:
        from heapwise.cli.frame.ask.fleet_form import measure_on_fleet

        return measure_on_fleet(options, console)
    from heapwise.cli.frame.measure import measure
    from heapwise.cli.frame.tell.announce import announce
    from heapwise.runner import CompareRequest, prepare_compare
    from heapwise.store import find_store

    least, most = options.least_rounds, options.most_rounds
    if least and most and least > most:
        raise Problem(
            "E003",
            f"--min-rounds {least} is more than --max-rounds {most}",
            do="heapwise compare -m 10 -M 50 -- PROGRAM",
        )
    tail = context.meta.get(TAIL)
    words = taken(
        CommandWords,
        options,
        words=[*([options.reference] if options.reference else []), *(commands or [])],
        tail=tail,
        shell=shell_words(options.shell),
    )
    request = taken(
        CompareRequest,
        options,
        builds=words.parse(),
        parameters=parse_parameters(
            [*options.parameter, *scanned(options.scan, options.scan_step)]
        ),
        allocators=_allocators(options),
        sets_up=not options.dry_run,
    )
    demand_exports(options.export)
    try:
        prepared = prepare_compare(request, os.environ)
    except Problem as problem:
        raise _explained(problem, commands or [], [*(words.tail or [])]) from problem
    announce(prepared, console)
    if mistaken := own_options(context, words.tail or []):
        console.say(
            f"Note         {', '.join(mistaken)}: words after -- are arguments of "
            "the program. Options of heapwise come before --."
        )
    if options.dry_run:
        if options.json:
            console.json(prepared.plan)
        return 0
    shown = measure(prepared, options, console)
    if options.protection and not options.json:
        _say_protection(shown.result, find_store(options.store), console)
    for sentence in prepared.left_out:
        error_line(sentence)
    return shown.code or (int(Exit.PROGRAM_FAILED) if prepared.left_out else 0)


def _allocators(options: Options) -> list[str]:
    """Problem E003 if both are given."""
    if not options.protection:
        return options.allocators
    if options.allocators:
        raise Problem(
            "E003",
            "--protection chooses the allocators, and --allocators does too",
            do="heapwise compare --protection -- PROGRAM",
        )
    from heapwise.catalog import find_peers
    from heapwise.study.attacks.price import protected_names

    return protected_names(find_peers())


def _say_protection(result: Result | None, store: Path, console: Console) -> None:
    from heapwise.study.attacks.price import price_text

    if result is not None and any(row.n for row in result.rows):
        console.result(f"\n{price_text(result, store)}")


def own_options(context: typer.Context, tail: Sequence[str]) -> list[str]:
    """Words after -- that are long options of this verb, which the user may have meant."""
    known = {name for option in context.command.params for name in option.opts}
    return [word for word in tail if word.startswith("--") and word.partition("=")[0] in known]


def _explained(problem: Problem, commands: list[str], tail: list[str]) -> Problem:
    """If a word before -- is not a program, the user may have meant the arguments of one. A command
    with a space is a command line in any case, which the user may have put behind --."""
    if problem.id != "E010":
        return problem
    if len(tail) == 1 and " " in tail[0] and f"'{tail[0]}'" in problem.what:
        shell = "--shell " if set(tail[0]) & set("|&;<>$") else ""
        return Problem(
            "E010",
            problem.what,
            why="It is one word after --.",
            do="leave out --, so that it is a command line: heapwise compare "
            f"{shell}{shlex.quote(tail[0])}",
        )
    if len(commands) < 2 or any(" " in word for word in commands):
        return problem
    return Problem(
        "E010",
        problem.what,
        why="Without -- each word is a command line of its own.",
        do=f"for one program with its arguments: heapwise compare -- {shlex.join(commands)}",
    )
