"""Builds peers, or programs, one after the other, tests each, and says what is going on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from heapwise.builder import Added, add_peer, add_trees, add_wheels
from heapwise.catalog import (
    PROGRAMS,
    TREES,
    Declared,
    ProgramWheels,
    TreePrograms,
    choose_peers,
    subject_specs,
)
from heapwise.cli.frame.tell import console
from heapwise.cli.frame.tell.console import Console
from heapwise.errors import Exit, Problem
from heapwise.runner import row_trouble
from heapwise.runner.contract import check_peer
from heapwise.wording.durations import show_duration

EVERY_S = 30.0


@dataclass(frozen=True)
class AddingResult:
    """``trouble`` is "" for a peer that is here and keeps malloc's promises."""

    name: str
    version: str
    path: str
    exit: Exit
    trouble: str = ""


class Steps:
    """A line for each step; how far it is in a line that is rewritten, or every 30 s."""

    def __init__(self, name: str, quiet: bool) -> None:
        self._name, self._quiet, self._what = name, quiet, ""
        self._last_s = time.monotonic()
        self._live: Any = None

    def __enter__(self) -> Steps:
        if not self._quiet and console.is_live(sys.stderr):
            from rich.console import Console as RichConsole

            self._live = RichConsole(stderr=True, highlight=False).status("")
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def step(self, text: str) -> None:
        self._what = text
        if self._live:
            self._live.update(f"{self._name}: {text}")
        elif not self._quiet:
            console.error_line(f"{self._name}: {text}")

    def tick(self, text: str) -> None:
        if self._live:
            self._live.update(f"{self._name}: {self._what}  {text}")
        elif not self._quiet and time.monotonic() - self._last_s >= EVERY_S:
            self._last_s = time.monotonic()
            console.error_line(f"{self._name}: {self._what}  {text}")


Thing = TypeVar("Thing", Declared, TreePrograms, ProgramWheels)


def add_each(peers: Sequence[Declared], out: Console, *, again: bool) -> list[AddingResult]:
    """One result for each. A peer that fails is not a reason to leave out the next one.

    The problem of a single peer is raised; those of several are printed on the way.
    """
    return _each(peers, partial(_add, out=out, again=again))


def add_each_tree(
    trees: Sequence[TreePrograms], out: Console, *, again: bool, install: bool
) -> list[AddingResult]:
    """The same for the programs of the trees, language by language.

    install: whether missing compilers may be installed with apt-get, by root.
    """
    return _each(trees, partial(_add_tree, out=out, again=again, install=install))


def add_each_wheels(
    wheels: Sequence[ProgramWheels], out: Console, *, again: bool
) -> list[AddingResult]:
    """The same for the Python packages of programs."""
    return _each(wheels, partial(_add_wheels, out=out, again=again))


def _each(things: Sequence[Thing], add: Callable[[Thing], AddingResult]) -> list[AddingResult]:
    results = []
    for thing in things:
        try:
            results.append(add(thing))
        except Problem as problem:
            if len(things) == 1:
                raise
            console.print_problem(problem)
            results.append(AddingResult(thing.name, "", "", problem.exit, problem.what))
    return results


def _add_tree(programs: TreePrograms, out: Console, *, again: bool, install: bool) -> AddingResult:
    """Built, and each row that is here now tried once: its sums have to be right."""
    began_s = time.monotonic()
    name = f"{TREES}/{programs.name}"
    with Steps(name, out.quiet) as steps:
        added = add_trees(programs, steps, again=again, install=install)
        specs = [spec for _, spec in subject_specs(programs)]
        here = [spec for spec in specs if spec.available]
        steps.step(f"trying {', '.join(spec.name for spec in here)}")
        wrong = "; ".join(f"{spec.name}: {words}" for spec in here if (words := row_trouble(spec)))
    state = (
        f"ready after {show_duration(time.monotonic() - began_s)}"
        if added.news
        else "here already" + " (--again builds it once more)" * programs.needs_adding
    )
    out.result(f"{name} {added.version}  {f'FAILED its test: {wrong}' if wrong else state}")
    for spec in specs:
        if not spec.available:
            out.result(f"{name} without {spec.name}: {spec.reason}")
    code = Exit.NOT_TRUSTWORTHY if wrong else Exit.DONE
    return AddingResult(name, added.version, added.path, code, wrong)


def _add_wheels(wheels: ProgramWheels, out: Console, *, again: bool) -> AddingResult:
    began_s = time.monotonic()
    name = f"{PROGRAMS}/{wheels.name}"
    with Steps(name, out.quiet) as steps:
        added = add_wheels(wheels, steps, again=again)
    state = (
        f"ready after {show_duration(time.monotonic() - began_s)}"
        if added.news
        else "here already (--again fetches them once more)"
    )
    out.result(f"{name} {added.version}  {state}  {added.path}")
    return AddingResult(name, added.version, added.path, Exit.DONE)


def _add(peer: Declared, out: Console, *, again: bool) -> AddingResult:
    began_s = time.monotonic()
    with Steps(peer.name, out.quiet) as steps:
        added = add_peer(peer, steps, again=again)
        steps.step("loading it into a process and testing what malloc promises")
        found, _ = choose_peers([peer.name])
        answer = check_peer(found[0])
    state = (
        f"ready after {show_duration(time.monotonic() - began_s)}"
        if added.news
        else "here already (--again builds it once more)"
    )
    words = f"FAILED its test: {answer.trouble}" if answer.trouble else state
    known = f"; known fault: {answer.known}" if answer.known else ""
    out.result(f"{peer.name} {added.record.version}  {words}{known}  {added.path}")
    return _result(added, answer.trouble)


def _result(added: Added, trouble: str) -> AddingResult:
    code = Exit.NOT_TRUSTWORTHY if trouble else Exit.DONE
    return AddingResult(added.name, added.record.version, added.path, code, trouble)
