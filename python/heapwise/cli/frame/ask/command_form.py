"""Which programs a command line of ``compare`` names, and in which of its three forms.

    compare -- PROGRAM ARGS                   one program, under every allocator
    compare --build old=./a --build new=./b -- ARGS
    compare 'CMD1' 'CMD2'                     each word is a command line, as hyperfine takes it

Words after ``--`` are never looked at. Every word before it is an option or a command line.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand
from typer.exceptions import TyperException

from heapwise.cli.frame.ask.relink_form import only_programs
from heapwise.cli.frame.ask.shell_choice import joined_shell
from heapwise.cli.frame.ask.shell_words import split_assignments, split_words
from heapwise.errors import Problem
from heapwise.options import ServingOptions, declared
from heapwise.options.option import SERVE

if TYPE_CHECKING:
    from heapwise.model import Build, Setting

TAIL = "heapwise.tail"
"""Under this key the context has the words after ``--``; None if there is no ``--``."""

LIST_OPTIONS = ("-L", "--parameter-list")

HYPERFINE = {
    "--output": "--show-output shows what each process prints",
    "--style": "NO_COLOR=1 in the environment switches colours off, and -q prints the result alone",
    "--sort": "the baseline is first, and the fastest of the others follows",
}
"""Options of hyperfine that have another name here, and what takes their place."""


SERVING = frozenset(option.flags[0] for option in declared(ServingOptions, SERVE).values())


def moved_to(flag: str) -> str:
    """The verb that has taken this option of ``compare`` over; "" for all others."""
    if flag == "--attach":
        return "watch"
    return SERVE if flag == "--serve" or flag in SERVING else ""


def _moved_words(words: Sequence[str]) -> list[str]:
    """Without the options that were a verb's name, and with what was given to them."""
    own = list(words[: _dashes(words)])
    kept = [word.removeprefix("--attach=") for word in own if word not in ("--serve", "--attach")]
    return kept + list(words[len(own) :])


class CompareCommand(TyperCommand):
    """Takes away ``--`` and what follows, before any option is looked for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own, tail = (
            (args[:place], args[place + 1 :])
            if (place := _dashes(args)) is not None
            else (args, None)
        )
        ctx.meta[TAIL] = tail
        try:
            return super().parse_args(ctx, _joined(joined_shell(own)))
        except TyperException as error:
            unknown = getattr(error, "option_name", "")
            if verb := moved_to(unknown):
                raise Problem(
                    "E003",
                    f"compare has no option {unknown}",
                    why=f"The verb {verb} does that.",
                    do=shlex.join(["heapwise", verb, *_moved_words(args)]),
                ) from error
            if unknown == "--relink":
                raise only_programs("compare has programs and not their sources") from error
            if unknown.startswith("--export-"):  # as hyperfine has one for each format
                raise Problem(
                    "E003",
                    f"there is no option {unknown}",
                    why="The end of the file's name says what is written.",
                    do="--export FILE.json, .csv, .md or .html",
                ) from error
            if unknown in HYPERFINE and tail is None:
                raise Problem(
                    "E003",
                    f"there is no option {unknown}",
                    why="hyperfine has it. Without -- every option is one of heapwise.",
                    do=f"{HYPERFINE[unknown]}; if {unknown} belongs to the program, put "
                    "-- before the program",
                ) from error
            command = self._first_command(own)
            if unknown in own and tail is None and command:
                raise Problem(
                    "E003",
                    f"there is no option {unknown}",
                    why="Without -- every option is one of heapwise.",
                    do=f"if it belongs to the program: heapwise compare -- {command} {unknown} ...",
                ) from error
            raise

    def _first_command(self, words: Sequence[str]) -> str:
        """The first word that is neither an option nor the value of one; "" without one."""
        takes_value = {
            name
            for option in self.params
            for name in option.opts
            if not getattr(option, "is_flag", False)
        }
        return next(
            (
                word
                for before, word in pairwise(["", *words])
                if word[:1] != "-" and before not in takes_value
            ),
            "",
        )


def _dashes(args: Sequence[str]) -> int | None:
    return args.index("--") if "--" in args else None


def _joined(args: Sequence[str]) -> list[str]:
    """``-L threads 1,2`` as ``-L threads=1,2``: hyperfine's form has two words."""
    found, words = list[str](), list(args)
    while words:
        word = words.pop(0)
        found.append(word)
        if word in LIST_OPTIONS and len(words) >= 2 and "=" not in words[0]:
            found.append(f"{words.pop(0)}={words.pop(0)}")
    return found


@dataclass(frozen=True)
class CommandWords:
    """The options that say what is started."""

    words: Sequence[str]
    tail: Sequence[str] | None
    build: Sequence[str] = ()
    command_name: Sequence[str] = ()
    shell: Sequence[str] = ()
    """What is before ``-c COMMAND``; () if commands are started without a shell."""

    prepare: Sequence[str] = ()
    conclude: Sequence[str] = ()
    setup: Sequence[str] = ()
    cleanup: Sequence[str] = ()

    def parse(self) -> list[Build]:
        """Problem E003 if it is not clear what is meant."""
        from heapwise.model import Build, telling_names

        commands, typed, names = self._commands()
        if self.command_name and len(self.command_name) != len(commands):
            raise Problem(
                "E003",
                f"{len(self.command_name)} names for {len(commands)} commands",
                do="give -n once for each command",
            )
        names = (
            list(self.command_name)
            or names
            or (telling_names(typed) if len(commands) > 1 else [""])
        )
        columns = zip(
            names,
            commands,
            typed,
            for_each("prepare", self.prepare, len(commands)),
            for_each("conclude", self.conclude, len(commands)),
            for_each("setup", self.setup, len(commands)),
            for_each("cleanup", self.cleanup, len(commands)),
            strict=True,
        )
        found = []
        for name, command, words, prepare, conclude, setup, cleanup in columns:
            environment, started = split_assignments(command)
            found.append(
                Build(
                    name,
                    started,
                    words,
                    prepare=prepare,
                    conclude=conclude,
                    setup=setup,
                    cleanup=cleanup,
                    environment=environment,
                    splits_values=bool(self.words and not self.shell),
                )
            )
        return found

    def _commands(self) -> tuple[list[list[str]], list[list[str]], list[str]]:
        """Commands as started, as typed, and the names that --build gave them."""
        if self.words and self.build:
            raise Problem(
                "E003",
                f"'{self.words[0]}' cannot be given with --build",
                why="With --build, the words after -- are arguments of each build.",
                do=f"heapwise compare --build old=./a --build new=./b -- {self.words[0]}",
            )
        if self.words and self.tail is not None:
            raise Problem(
                "E003",
                f"'{self.words[0]}' is before --, and other words are after it",
                why="The words after -- are one program with its arguments. Without -- "
                "each word is a command line.",
                do="leave out --, and quote each command line",
            )
        if self.build:
            return self._of_builds()
        if self.words:
            typed = [self._split(word) for word in self.words]
            started = [self._by_shell(word) for word in self.words] if self.shell else typed
            return started, typed, []
        if not self.tail:
            raise Problem(
                "E003",
                "no program was given",
                do="heapwise compare -- PROGRAM [ARGS]..."
                "  or  heapwise compare 'COMMAND 1' 'COMMAND 2'",
            )
        tail = list(self.tail)
        return [self._by_shell(shlex.join(tail)) if self.shell else tail], [tail], []

    def _of_builds(self) -> tuple[list[list[str]], list[list[str]], list[str]]:
        names, commands, typed = list[str](), list[list[str]](), list[list[str]]()
        for text in self.build:
            name, equals, command = text.partition("=")
            if not equals or not name or not command.strip():
                raise Problem(
                    "E003",
                    f"--build {text} is not of the form name=COMMAND",
                    do="heapwise compare --build old=./a --build new=./b -- ARGS",
                )
            tail = list(self.tail or [])
            names.append(name)
            typed.append([*self._split(command), *tail])
            commands.append(
                self._by_shell(" ".join([command, shlex.join(tail)]).rstrip())
                if self.shell
                else typed[-1]
            )
        return commands, typed, names

    def _by_shell(self, text: str) -> list[str]:
        return [*self.shell, "-c", text]

    def _split(self, text: str) -> list[str]:
        """As a shell would. Problem E003 for a command that needs a shell."""
        return split_words(text, by_shell=bool(self.shell))


def for_each(option: str, values: Sequence[str] | None, number: int) -> list[str]:
    """What an option says of each of ``number`` programs: nothing, one thing for all, or one for
    each. Problem E003 for another number."""
    words = list(values or [])
    if len(words) not in (0, 1, number):
        raise Problem(
            "E003",
            f"{len(words)} times --{option} for {number} commands",
            do=f"give --{option} once for all commands, or once for each",
        )
    return (words or [""]) * number if len(words) < 2 else words


def parse_parameters(texts: Sequence[str]) -> dict[str, list[Setting]]:
    """``threads=1,2,4``. Problem E003 for another form."""
    found: dict[str, list[Setting]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not name.isidentifier() or not values:
            raise Problem(
                "E003",
                f"--parameter {text} is not of the form NAME=VALUE,VALUE",
                do="heapwise compare -L threads 1,2,4 './program {threads}'",
            )
        if name in found:
            raise Problem("E003", f"--parameter {name} is given twice", do=f"-L {name} 1,2,4")
        found[name] = [_setting(word) for word in values.split(",")]
    return found


def _setting(text: str) -> Setting:
    """A whole number as such, if it is written back as it was typed."""
    return int(text) if text.isascii() and text.isdigit() and str(int(text)) == text else text


def parse_exits(text: str | None) -> list[int]:
    """``1,2``. Problem E003 if a number is not an exit code."""
    words = (text or "").split(",") if text else []
    if any(not word.isdigit() or int(word) > 255 for word in words):
        raise Problem(
            "E003",
            f"--ignore-exit {text}: exit codes are numbers from 1 to 255",
            do="--ignore-exit 1,2",
        )
    return [int(word) for word in words]
