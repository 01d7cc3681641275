"""A page of the manual in the language of man (groff_man(7)), from a command of the app."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from heapwise import __version__
from heapwise.cli.frame.app import build_app

PROGRAM = "heapwise"
EXIT_CODES = Path(__file__).resolve().parents[2] / "docs" / "exit-codes.md"


@dataclass(frozen=True)
class Page:
    """name: of the file, without the section. text: groff's source."""

    name: str
    text: str


def pages() -> Iterator[Page]:
    """One of the program itself, then one of each verb and of each verb below it."""
    command = typer.main.get_command(build_app())
    return _pages([PROGRAM], command)


def _pages(words: list[str], command: Any) -> Iterator[Page]:
    below = getattr(command, "commands", {})
    yield Page("-".join(words), _text(words, command, below))
    for name, one in below.items():
        yield from _pages([*words, name], one)


def _text(words: list[str], command: Any, below: dict[str, Any]) -> str:
    name = "-".join(words)
    summary, rest = _parts(command)
    arguments = [p for p in command.params if p.param_type_name == "argument" and _help(p)]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    is_last = not below and len(words) > 1
    sections: dict[str, Iterable[str]] = {
        "NAME": [f"{escaped(name)} \\- {escaped(summary)}"],
        "SYNOPSIS": [f".B {escaped(' '.join(words))}", escaped(_usage(command, below))],
        "DESCRIPTION": _paragraphs(rest) if rest else [],
        "ARGUMENTS": _entries((_metavar(p), _help(p)) for p in arguments),
        "OPTIONS": _entries((_spelling(p), _help(p)) for p in options),
        "COMMANDS": _entries((f"{name}-{verb}(1)", _parts(one)[0]) for verb, one in below.items()),
        "EXIT STATUS": _entries(_exit_codes() if is_last else []),
        "SEE ALSO": [escaped(f"{PROGRAM}(1)")] if is_last else [],
    }
    lines = [f'.TH "{name.upper()}" "1" "" "Heapwise {__version__}" "Heapwise"']
    for title, told in sections.items():
        if found := list(told):
            lines += [f".SH {title}", *found]
    return "\n".join(lines) + "\n"


def _exit_codes() -> list[tuple[str, str]]:
    """The table of docs/exit-codes.md."""
    text = EXIT_CODES.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", text, re.MULTILINE)
    return [(code, meaning.replace("`", "").replace("\\|", "|")) for code, meaning in rows]


def _parts(command: Any) -> tuple[str, str]:
    """(the first sentence, everything after it) of the help."""
    text = inspect.cleandoc(command.help or "")
    first, _, rest = text.partition("\n\n")
    return " ".join(first.split()).rstrip("."), rest


def _usage(command: Any, below: dict[str, Any]) -> str:
    words = ["[OPTION]..."]
    words += [_metavar(p) for p in command.params if p.param_type_name == "argument"]
    return " ".join([*words, *(["COMMAND"] if below else [])])


def _paragraphs(text: str) -> Iterator[str]:
    """A paragraph that begins with a backspace is shown as it is written."""
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ".PP"
        if paragraph.startswith("\b"):
            yield from (".nf", *map(escaped, paragraph.lstrip("\b\n").splitlines()), ".fi")
        else:
            yield from map(escaped, paragraph.splitlines())


def _entries(entries: Any) -> Iterator[str]:
    for word, text in entries:
        yield from (".TP", f"\\fB{escaped(word)}\\fR", escaped(text or " "))


def _spelling(parameter: Any) -> str:
    spelled = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return spelled if parameter.is_flag else f"{spelled} {_metavar(parameter)}"


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _help(parameter: Any) -> str:
    return " ".join((parameter.help or "").split())


def escaped(text: str) -> str:
    """As groff prints it: a minus stays one, and no line is taken for a request."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe
