"""Whether a server did what it had to, and whether its load was what it should be."""

from __future__ import annotations

from heapwise.model import LoadFacts, Peer, ProcessFacts, Status
from heapwise.runner.process.identity import loader_refusal, wrong_library
from heapwise.runner.process.launch import Outcome
from heapwise.runner.process.process_status import killed_words
from heapwise.wording.numbers import percent

LEAST_SHARE = 0.99
"""The share of the intended rate that must be reached (V16)."""

MOST_BUSY = 0.7
"""The share of the generator's processors: with more its schedule is late by its own fault."""

ENDED_BY = ("SIGTERM", "SIGINT")


def judge_server(
    outcome: Outcome, peer: Peer | None, exempt: set[str], load: LoadFacts, trouble: str
) -> tuple[Status, str]:
    """The first thing that is wrong, the most certain first.

    peer: the allocator that it had to have. exempt: executables that keep their own. trouble: what
    went wrong while it was used.
    """
    facts = outcome.facts
    if outcome.interrupted:
        return "interrupted", "stopped by you"
    if facts.start_error:
        return "failed", f"it could not be started: {facts.start_error}"
    if refusal := loader_refusal(outcome.stderr):
        return "wrong_allocator", refusal
    if trouble:
        how = (
            f" ({killed_words(facts) or facts.signal_name})"
            if facts.signal_name
            else f" (exit code {facts.exit_code})"
            if facts.exit_code
            else ""
        )
        crashed = facts.signal_name not in (None, *ENDED_BY, "SIGKILL")
        return "crashed" if crashed else "failed", trouble + how + _gone(facts)
    if peer is not None and (wrong := wrong_library(outcome.identity, peer, exempt)):
        return "wrong_allocator", wrong
    if peer is not None and peer.path and facts.probe and facts.probe.lost_execs:
        lost = ", ".join(sorted({each.target for each in facts.probe.lost}))
        return "wrong_allocator", f"nothing was preloaded into {lost}, which it started"
    if facts.signal_name not in (None, *ENDED_BY, "SIGKILL"):
        return "crashed", f"crashed ({facts.signal_name}) when it was told to end"
    return load_trouble(load)


def load_trouble(load: LoadFacts) -> tuple[Status, str]:
    """V16: a load that was not what it should be says nothing about the server."""
    if load.errors:
        return "discarded", f"{load.errors:,} of {load.requests + load.errors:,} requests failed"
    if not load.requests:
        return "discarded", "no request was answered"
    if (share := load.share()) is not None:
        busy = float(load.generator_cpu or 0.0)
        if busy > MOST_BUSY:
            return (
                "discarded",
                f"the load generator used {percent(busy)} of its processors, so "
                "its schedule was late by its own fault",
            )
        if share < LEAST_SHARE:
            return (
                "discarded",
                f"{percent(share)} of the intended rate of "
                f"{load.intended_rate or 0:.0f} requests a second was reached",
            )
    return "ok", ""


def _gone(facts: ProcessFacts) -> str:
    """The words for a server that ended well by itself and left others: it has become a daemon."""
    if facts.exit_code != 0 or facts.stopped_by or not facts.lingering:
        return ""
    return (
        ": it went into the background, where it cannot be watched. Let it stay in the "
        "foreground (nginx: daemon off; redis: --daemonize no)"
    )
