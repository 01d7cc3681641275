"""Builds the command line from the verbs' files, and turns every ending into an exit code."""

from __future__ import annotations

import importlib
import os
import pkgutil
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import typer
from typer.exceptions import TyperException

import heapwise.cli
from heapwise import __version__
from heapwise.cli.frame import console, settings
from heapwise.cli.frame.streams import prepare_streams
from heapwise.errors import Exit, Problem


def build_app() -> typer.Typer:
    """Every module of this folder that is no package is a verb."""
    app = typer.Typer(
        name="heapwise", rich_markup_mode=None, pretty_exceptions_enable=False,
        no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for module in sorted(pkgutil.iter_modules(heapwise.cli.__path__), key=lambda found: found.name):
        if not module.ispkg:
            importlib.import_module(f"heapwise.cli.{module.name}").register(app)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"heapwise {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Which allocator, which layout, which primitive, and what does it buy.

    \b
    heapwise compare -- ./server --bench      your program under every allocator
    heapwise list                             what the laboratory can measure
    heapwise run 'pool/*' --smoke             measure it, quickly
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Never returns, never shows a traceback without ``--debug``."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    prepare_streams()
    try:
        code = run(words)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 128 + signal.SIGPIPE
    sys.exit(code)


def run(words: Sequence[str]) -> int:
    """Runs one verb; the exit code is that of docs/exit-codes.md."""
    debug = "--debug" in _own_words(words)
    try:
        return _invoke(list(words))
    except Problem as problem:
        if debug:
            raise
        console.print_problem(problem)
        return int(problem.exit)
    except TyperException as error:
        console.print_problem(_usage(error))
        return int(Exit.BAD_USAGE)
    except (KeyboardInterrupt, typer.Abort):
        console.error_line("stopped by you. Nothing was lost.")
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        raise
    except Exception as error:
        if debug:
            raise
        console.print_problem(Problem("E070", f"{type(error).__name__}: {error}"))
        return int(Exit.OUR_BUG)


def _own_words(words: Sequence[str]) -> Sequence[str]:
    return words[: words.index("--")] if "--" in words else words


def _invoke(words: list[str]) -> int:
    app = build_app()
    command: Any = typer.main.get_command(app)
    verb = next((word for word in words if word in command.commands), "")
    defaults = settings.defaults(command, verb)
    result = command.main(
        args=words, prog_name="heapwise", standalone_mode=False, default_map=defaults
    )
    return result if isinstance(result, int) else 0


def _usage(error: TyperException) -> Problem:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "heapwise"
    what = error.format_message().rstrip(".") or "the command line cannot be understood"
    return Problem(
        "E003", what, why="Nothing was started.", do=f"{path} --help"
    )
