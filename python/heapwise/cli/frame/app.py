"""Builds the command line from the verbs' files, and turns every ending into an exit code."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.exceptions import TyperException

from heapwise import __version__
from heapwise.cli.frame.ask import settings
from heapwise.cli.frame.ask.arguments import show_metavars
from heapwise.cli.frame.help import shortened
from heapwise.cli.frame.streams import finish_streams, prepare_streams
from heapwise.cli.frame.tell import console
from heapwise.errors import Exit, Problem
from heapwise.wording.lists import either
from heapwise.wording.suggest import near_options
from heapwise.wording.verbs import verb_names

DEBUG = "--debug"
"""Every verb has it: it is taken away before the words are looked at."""

OF_TRACES = ("trace", "advise", "replay")
"""Verbs that newcomers give a program."""

ANY_VERB = "VERB"
"""Stands in the remedies of the catalogue for the verb that was typed."""

NO_THREAD = "can't start new thread"
"""The words of CPython, which has no type for it."""

CHILD_ERROR = "child_exception_type"
"""What CPython's subprocess raises when a child cannot be made into the program."""

COMPLETION = "_HEAPWISE_COMPLETE"
"""With this variable a shell asks for proposals."""


def build_app(verbs: Sequence[str] = ()) -> typer.Typer:
    """With these verbs, or with all."""
    app = typer.Typer(
        name="heapwise",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for verb in verbs or verb_names():
        importlib.import_module(f"heapwise.cli.{verb}").register(app)
    return app


@cache
def verbs_command(*verbs: str) -> Any:
    """The command with these verbs, or with all. All of them take longer to make than many verbs
    take to run, and are the same for each run of a process."""
    command = typer.main.get_command(build_app(verbs))
    show_metavars(command)
    return command


def verbs_needed(words: Sequence[str]) -> list[str]:
    """The verb that these words begin with, if no other is asked for; else none, so all of them. A
    file of settings may name any verb, and a shell may complete any word."""
    if not words or COMPLETION in os.environ or settings.find_file():
        return []
    return [verb for verb in verb_names() if verb == words[0]]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"heapwise {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
    debug: bool = typer.Option(False, DEBUG, help="Show the traceback of an error, with any verb."),
) -> None:
    """Measure which memory allocator suits a program, and what it gains in time and memory.

    \b
    heapwise compare -- ./server --bench      your program under every allocator
    heapwise list                             what the laboratory can measure
    heapwise run 'pool/*' --smoke             measure it, quickly
    """


class Stopped(BaseException):
    """Ctrl-C where no campaign is under way. typer turns KeyboardInterrupt into a mute exit."""


def _stop(number: int, frame: object) -> NoReturn:
    raise Stopped


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Never returns, never shows a traceback without ``--debug``."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    prepare_streams()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it is ignored, no child has an exit code
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    code = run(words)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the code is decided; only cleaning up is left
    finish_streams()
    sys.exit(code)


def run(words: Sequence[str]) -> int:
    """Runs one verb; the exit code is that of docs/exit-codes.md."""
    own = _own_words(words)
    debug = DEBUG in own
    words = [*(word for word in own if word != DEBUG), *words[len(own) :]]
    try:
        return _invoke(words)
    except (Stopped, KeyboardInterrupt, typer.Abort):
        return _stopped()
    except (console.ReaderGone, BrokenPipeError):
        return int(Exit.READER_GONE)
    except Exception as error:
        if isinstance(error.__cause__, Stopped | KeyboardInterrupt):
            return _stopped()  # Python 3.11 makes a RuntimeError of it while a class is made
        if debug and not isinstance(error, TyperException):
            raise
        problem = _problem(error, words)
        problem.do = problem.do.replace(f"heapwise {ANY_VERB}", f"heapwise {_verb(words)}")
        with suppress(console.ReaderGone, OSError, Problem):
            console.print_problem(problem)
            if "--json" in _own_words(words):
                console.Console(as_json=True).json(
                    {
                        "error": {
                            "id": problem.id,
                            "what": problem.what,
                            "why": problem.why,
                            "do": problem.do,
                        }
                    }
                )
        return int(problem.exit)


def _stopped() -> int:
    console.error_line("stopped by you. Nothing was lost.")
    return int(Exit.INTERRUPTED)


def _problem(error: Exception, words: Sequence[str]) -> Problem:
    if isinstance(error, Problem):
        verb = next((word for word in words if not word.startswith("-")), "VERB")
        error.do = error.do.replace("heapwise VERB ", f"heapwise {verb} ")
        return error
    if isinstance(error, TyperException):
        return _usage(error, words)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return Problem("E056", f"{where}{error.strerror or error}{_asked(error)}")
    if isinstance(error, RuntimeError) and str(error) == NO_THREAD:
        return Problem(
            "E056",
            "no thread can be started",
            why="A limit of processes (ulimit -u, pids.max of a container) or a sandbox is met.",
            do="raise the limit, or end other programs of this user",
        )
    return Problem("E070", f"{type(error).__name__}: {error}".removesuffix(": "))


def _asked(error: OSError) -> str:
    """What was asked of the system, where no file says it: a sandbox refuses that."""
    innermost = traceback.extract_tb(error.__traceback__, limit=-1)
    call = re.search(r"\b[\w.]+(?=\()", innermost[0].line or "") if innermost else None
    if error.filename or call is None:
        return ""
    return ", when a program was started" if call[0] == CHILD_ERROR else f", in {call[0]}"


def _verb(words: Sequence[str]) -> str:
    return next((word for word in words if word in verb_names()), ANY_VERB)


def _own_words(words: Sequence[str]) -> Sequence[str]:
    return words[: words.index("--")] if "--" in words else words


def _invoke(words: list[str]) -> int:
    _demand_working_folder()
    command = verbs_command(*verbs_needed(words))
    verb = next((word for word in words if word in command.commands), "")
    defaults = settings.defaults(command, verb)
    try:
        own = _own_words(words)
        with shortened(command, own) as typed:
            result = command.main(
                args=[*typed, *words[len(own) :]],
                prog_name="heapwise",
                standalone_mode=False,
                default_map=defaults,
            )
    except SystemExit as end:
        if end.code == 0:  # the proposals for a shell were printed
            return 0
        raise console.ReaderGone from end  # what typer makes of a reader that is gone
    return result if isinstance(result, int) else 0


def _demand_working_folder() -> None:
    try:
        Path.cwd()
    except OSError as error:
        raise Problem(
            "E056",
            f"the working folder cannot be used: {error.strerror}",
            why="Settings and runs are looked for there.",
            do="cd to a folder that exists",
        ) from error


NEEDED = {"integer": "a whole number", "number": "a number"}
"""Kinds of values, as the library of the command line names them -> in our words."""


def _value_words(error: TyperException, words: Sequence[str]) -> str:
    """``--rounds x needs a whole number``; "" if the error is not about the value of an option."""
    names = getattr(getattr(error, "param", None), "opts", [])
    said = error.format_message()
    kind = re.search(r"Input should be a valid (integer|number)", said)
    least = re.search(r"Input should be greater than or equal to (\S+)", said)
    if not names or not (kind or least):
        return ""
    typed = next((f"{name} {value}" for name in names for value in _values(name, words)), names[0])
    needed = NEEDED[kind[1]] if kind else f"{least[1].rstrip('.')} or more" if least else ""
    return f"{typed} needs {needed}"


def _values(name: str, words: Sequence[str]) -> list[str]:
    """What an option was given, in either form."""
    return [word for before, word in pairwise(words) if before == name] + [
        word.removeprefix(f"{name}=") for word in words if word.startswith(f"{name}=")
    ]


def _unknown_option(error: TyperException) -> str:
    """With the options that are perhaps meant; "" if the error is not about an unknown option."""
    typed = getattr(error, "option_name", "")
    command = getattr(getattr(error, "ctx", None), "command", None)
    if not hasattr(error, "possibilities") or command is None:
        return ""
    names = [
        name
        for each in command.params
        if not getattr(each, "hidden", False)
        for name in each.opts
        if name.startswith("--")
    ]
    near = near_options(typed, names)
    return f"there is no option {typed}" + (f". Do you mean {either(near)}?" if near else "")


def _usage(error: TyperException, words: Sequence[str]) -> Problem:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "heapwise"
    what = (
        _value_words(error, words)
        or _unknown_option(error)
        or error.format_message().rstrip(".")
        or "the command line cannot be understood"
    )
    after = list(words[words.index("--") + 1 :]) if "--" in words else []
    if after and path.rpartition(" ")[2] in OF_TRACES:
        trace = shlex.quote(f"{Path(after[0]).name}.hwt")
        return Problem(
            "E003",
            what,
            why="It reads a trace, and starts no program.",
            do=f"heapwise record -o {trace} -- {shlex.join(after)} && {path} {trace}",
        )
    return Problem("E003", what, why="Nothing was started.", do=f"{path} --help")
