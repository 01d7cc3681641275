"""What became of one process of the user's program: its status, and the reason in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from heapwise.model import Peer, Status
from heapwise.runner.identity import loader_refusal, wrong_library
from heapwise.runner.launch import Outcome


@dataclass
class Reference:
    """What the baseline did first, which is what all others must do (V8).

    ``exempt``: executables with an allocator of their own, seen under the baseline.
    """

    output_hash: str | None = None
    exit_code: int | None = None
    any_exit: bool = False
    ignore_output: bool = False
    exempt: set[str] = field(default_factory=set)

    def take(self, facts: dict[str, Any]) -> None:
        self.output_hash = str(facts.get("output_hash"))
        self.exit_code = facts.get("exit_code")

    @property
    def known(self) -> bool:
        return self.output_hash is not None


def judge(outcome: Outcome, peer: Peer | None, reference: Reference) -> tuple[Status, str]:
    """The first thing that is wrong, the most certain first."""
    facts = outcome.facts
    if outcome.interrupted:
        return "interrupted", "stopped by you"
    if error := facts.get("start_error"):
        return "failed", f"it could not be started: {error}"
    if refusal := loader_refusal(outcome.stderr):
        return "wrong_allocator", refusal
    if facts.get("timed_out"):
        return "timed_out", f"no end after {facts.get('wall_s', 0):.1f} s"
    if facts.get("signal"):
        return "crashed", f"crashed ({facts.get('signal_name') or facts['signal']})"
    if peer is not None and (wrong := wrong_library(outcome.identity, peer, reference.exempt)):
        return "wrong_allocator", wrong
    return _same_work(facts, reference)


def _same_work(facts: dict[str, Any], reference: Reference) -> tuple[Status, str]:
    code = facts.get("exit_code")
    expected = reference.exit_code if reference.known else 0
    if code != expected and not (reference.any_exit and not reference.known):
        return "failed", f"exit code {code} instead of {expected}"
    if (reference.known and not reference.ignore_output
            and facts.get("output_hash") != reference.output_hash):
        return "output_differs", "its output is not that of the baseline"
    return "ok", ""
