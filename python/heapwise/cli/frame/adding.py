"""Builds peers one after the other, tests each, and says what is going on."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heapwise.builder import Added, add_peer
from heapwise.catalog import Declared, choose_peers
from heapwise.cli.frame import console
from heapwise.cli.frame.console import Console
from heapwise.cli.frame.duration import show_duration
from heapwise.errors import Exit, Problem
from heapwise.runner.contract import check_peer

EVERY_S = 30.0


@dataclass(frozen=True)
class Result:
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


def add_each(peers: Sequence[Declared], out: Console, *, again: bool) -> list[Result]:
    """One result for each. A peer that fails is no reason to leave out the next one.

    The problem of a single peer is raised; those of several are printed on the way.
    """
    results = []
    for peer in peers:
        try:
            results.append(_add(peer, out, again=again))
        except Problem as problem:
            if len(peers) == 1:
                raise
            console.print_problem(problem)
            results.append(Result(peer.name, "", "", problem.exit, problem.what))
    return results


def _add(peer: Declared, out: Console, *, again: bool) -> Result:
    began_s = time.monotonic()
    with Steps(peer.name, out.quiet) as steps:
        added = add_peer(peer, steps, again=again)
        steps.step("loading it into a process and testing what malloc promises")
        found, _ = choose_peers([peer.name])
        answer = check_peer(found[0])
    state = f"ready after {show_duration(time.monotonic() - began_s)}" if added.news \
        else "here already (--again builds it once more)"
    words = f"FAILED its test: {answer.trouble}" if answer.trouble else state
    known = f"; known fault: {answer.known}" if answer.known else ""
    out.result(f"{peer.name} {added.record.version}  {words}{known}  {added.path}")
    return _result(added, answer.trouble)


def _result(added: Added, trouble: str) -> Result:
    code = Exit.NOT_TRUSTWORTHY if trouble else Exit.DONE
    return Result(added.name, added.record.version, added.path, code, trouble)
