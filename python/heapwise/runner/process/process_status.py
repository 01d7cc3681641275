"""What became of one process of the user's program: its status, and the reason in words."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field

from heapwise.model import LauncherFacts, Peer, Status
from heapwise.runner.process.identity import loader_refusal, wrong_library
from heapwise.runner.process.launch import Outcome
from heapwise.wording.durations import show_limit
from heapwise.wording.numbers import size


@dataclass
class Reference:
    """What the baseline did first, which is what all others must do (V8).

    ``exempt``: executables with an allocator of their own, seen under the baseline.
    ``output``: what must be printed, where that is known without any baseline.
    """

    output_hash: str | None = None
    exit_code: int | None = None
    any_exit: bool = False
    """Whether the first exit code may be any; it is then that of all."""

    ignores_exits: bool = False
    ignored_exits: frozenset[int] = frozenset()
    """Exit codes that are as good as the expected one; all of them if ``ignores_exits``."""

    ignore_output: bool = False
    exempt: set[str] = field(default_factory=set)
    output: bytes | None = None

    def take(self, facts: LauncherFacts) -> None:
        self.output_hash = str(facts.output_hash)
        self.exit_code = facts.exit_code

    @property
    def known(self) -> bool:
        return self.output_hash is not None


def judge(outcome: Outcome, peer: Peer | None, reference: Reference) -> tuple[Status, str]:
    """The first thing that is wrong, the most certain first."""
    facts = outcome.facts
    if outcome.interrupted:
        return "interrupted", "stopped by you"
    if error := facts.start_error:
        return "failed", f"it could not be started: {error}"
    if refusal := loader_refusal(outcome.stderr):
        return "wrong_allocator", refusal
    if name := facts.stop_signal:
        return "failed", stopped_words(name)
    if facts.timed_out:
        return "timed_out", f"no end after {show_limit(facts.wall_s or 0)}"
    if facts.signal:
        return "crashed", crash_words(facts)
    if facts.group and facts.group.own and facts.group.kills:
        return "failed", f"{facts.group.kills} of its processes: {killed_words(facts)}"
    if peer is not None and (wrong := wrong_library(outcome.identity, peer, reference.exempt)):
        return "wrong_allocator", wrong
    return _same_work(outcome, reference)


def crash_words(facts: LauncherFacts) -> str:
    """``crashed (SIGSEGV)``; ``crashed (signal 35, SIGRTMIN+1)`` for a signal without a name."""
    if killed := killed_words(facts):
        return killed
    number = facts.signal or 0
    if not facts.signal_name and number >= signal.SIGRTMIN:
        return f"crashed (signal {number}, SIGRTMIN+{number - signal.SIGRTMIN})"
    return f"crashed ({facts.signal_name or f'signal {number}'})"


def killed_words(facts: LauncherFacts) -> str:
    """Why the kernel killed processes; empty if it killed none for lack of memory."""
    if facts.group is None or not facts.group.kills or facts.signal_name not in (None, "SIGKILL"):
        return ""
    if facts.group.limit_kib is None:
        return "killed by the kernel: memory was short"
    limit = size(facts.group.limit_kib * 1024)
    return f"killed by the kernel: the memory limit of its control group is {limit}"


STOPPED = {
    "SIGTTIN": "it wants to read from the terminal; use --input FILE",
    "SIGTTOU": "it wants to change the terminal, which a process in the background must not do",
}


def stopped_words(signal_name: str) -> str:
    """Why a process was ended that did not end by itself and did not go on."""
    words = STOPPED.get(signal_name, "a program that is stopped cannot be measured")
    return f"stopped ({signal_name}): {words}"


def _same_work(outcome: Outcome, reference: Reference) -> tuple[Status, str]:
    facts = outcome.facts
    code = facts.exit_code
    expected = reference.exit_code if reference.known else 0
    ignored = reference.ignores_exits or code in reference.ignored_exits
    if code != expected and not ignored and not (reference.any_exit and not reference.known):
        return "failed", f"exit code {code} instead of {expected}"
    if reference.output is not None and outcome.stdout != reference.output:
        return "output_differs", first_difference(outcome.stdout, reference.output)
    if (
        reference.known
        and not reference.ignore_output
        and facts.output_hash != reference.output_hash
    ):
        return "output_differs", "its output is not that of the baseline"
    return "ok", ""


def first_difference(printed: bytes, expected: bytes) -> str:
    """The first line that is not as it has to be, in words."""
    lines = printed.decode(errors="replace").splitlines()
    wanted = expected.decode().splitlines()
    place = next(
        (n for n, (a, b) in enumerate(zip(lines, wanted, strict=False)) if a != b),
        min(len(lines), len(wanted)),
    )
    if place >= len(wanted):
        return (
            "it printed more than it should"
            if len(lines) > place
            else "its line ends are not as they should be"
        )
    said = f"'{lines[place][:80]}'" if place < len(lines) else "nothing"
    return f"line {place + 1} is {said} instead of '{wanted[place]}'"
