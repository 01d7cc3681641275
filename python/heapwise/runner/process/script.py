"""Which file the kernel will really run: a script's interpreter, not the script."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from heapwise.errors import Problem
from heapwise.wording.suggest import nearest

DEEPEST = 5
"""The kernel follows about as many interpreter lines, then gives up (binfmt_script)."""


def find_program(name: str) -> Path:
    """By PATH or by path, as execvp would. Problem E010 when there is no such program."""
    if not name:
        raise Problem("E010", "the name of the program is empty", why="Nothing was measured.")
    found = shutil.which(name)
    if found:
        return Path(found).absolute()
    path = Path(name)
    if path.is_dir():
        raise Problem(
            "E010",
            f"{name} is a folder",
            why="A folder cannot be started. Nothing was measured.",
            do="give the path of a program in it, after --",
        )
    if "/" not in name and path.is_file() and os.access(path, os.X_OK):
        raise Problem("E010", f"{name} is not on PATH", do=f"give its path: ./{name}")
    if path.exists():
        raise Problem(
            "E010",
            f"{name} is not executable",
            why="It has no permission to be started. Nothing was measured.",
            do=f"chmod +x {shlex.quote(name)}",
        )
    if " " in name and shutil.which(name.split()[0]):
        raise Problem(
            "E010",
            f"there is no program '{name}'",
            why="It is one word with spaces in it. Nothing was measured.",
            do=f"let a shell read it: heapwise VERB -- sh -c {shlex.quote(name)}",
        )
    if "/" in name:
        seen = "" if path.is_absolute() else f", seen from {Path.cwd()}"
        raise Problem(
            "E010",
            f"there is no program {name}",
            why=f"No file has this path{seen}. Nothing was measured.",
            do=_like_it(path),
        )
    raise Problem("E010", f"there is no program {name}")


def _like_it(path: Path) -> str:
    """The path of a program in the same folder with a similar name; "" without one."""
    try:
        files = [each for each in os.scandir(path.parent) if each.is_file()]
        names = [each.name for each in files if os.access(each, os.X_OK)]
    except OSError:
        return ""
    near = nearest(path.name, names)
    return f"perhaps {shlex.quote(f'{path.parent}/{near}')} is meant" if near else ""


def interpreter_chain(program: Path) -> list[Path]:
    """``program`` and what interprets it; the last is what the kernel maps as the process.

    ``#!/usr/bin/env x`` goes on to x. Problem E010 for an interpreter that is not there.
    """
    chain = [program]
    while len(chain) <= DEEPEST:
        words = _interpreter_words(chain[-1])
        if not words:
            return chain
        script = chain[-1]
        chain.append(_interpreter(words[0], script))
        if chain[-1].name == "env" and (target := _target_of_env(words[1:])):
            chain.append(_interpreter(target, script))
    raise Problem(
        "E026",
        f"{program} names more than {DEEPEST} interpreters",
        why="Each is a script that names another one, and the kernel follows no more.",
        do="name a program, not a script, in the #! line of one of them",
    )


def _interpreter(name: str, script: Path) -> Path:
    try:
        return find_program(name)
    except Problem as problem:
        raise Problem(
            problem.id,
            f"{script} cannot be started: {problem.what}",
            why=f"Its first line names {name} as its interpreter. Nothing was measured.",
            do="install the interpreter, or correct that line",
        ) from problem


def _interpreter_words(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            first = file.readline(4096)
    except OSError as error:
        raise Problem(
            "E010",
            f"{path} cannot be read: {error.strerror}",
            why="Its first bytes say what runs it.",
            do="make it readable: chmod +r",
        ) from error
    if not first.startswith(b"#!"):
        return []
    return first[2:].decode(errors="replace").split()


def _target_of_env(words: list[str]) -> str:
    return next((word for word in words if not word.startswith("-") and "=" not in word), "")
