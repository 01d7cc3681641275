"""V16: latencies count from the planned moment, and only if the plan was kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from planted import compare, verdict_of, with_facts, with_plan
from synthetic import changed

from heapwise.model import LoadFacts, PlanOptions, Process, ServerOptions
from heapwise.store import StoredRun

SOUND = LoadFacts(
    generator="oha",
    open_loop=True,
    intended_rate=1000.0,
    achieved_rate=998.0,
    requests=9980,
    generator_cpu=0.2,
)
FREE = LoadFacts(generator="wrk", achieved_rate=50_000.0, requests=500_000, generator_cpu=0.5)


def served(load: LoadFacts = SOUND) -> StoredRun:
    """A run whose processes were servers under this load."""
    options = PlanOptions(server=ServerOptions("tcp:{port}", ["oha"]))
    return with_facts(with_plan(compare(), kind="run", options=options), lambda _: {"load": load})


def discarded(share: float) -> StoredRun:
    """This share of the samples was left out."""
    stored = served()
    count = [p for p in stored.processes if not p.warm_up and not p.facts.counting]
    lost = {p.number for p in count[: round(share * len(count))]}

    def reject(process: Process) -> Process:
        if process.number not in lost:
            return process
        return replace(process, status="discarded", reason="3 of 100 requests failed")

    return replace(stored, processes=[reject(p) for p in stored.processes])


def test_a_schedule_that_was_kept_passes() -> None:
    found = verdict_of(served(), "V16")
    assert found.verdict == "pass"
    assert "at least 99.8 % of the intended rate" in found.detail
    assert found.figures["least_share"] == 0.998


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        (9980, "The 99.9th percentile of 9,980 requests is one of the 10 slowest of them"),
        (800, "The 99.9th percentile of 800 requests is the slowest of them"),
        (10_000, ""),
    ],
)
def test_a_high_percentile_of_few_requests_is_called_what_it_is(requests: int, words: str) -> None:
    found = verdict_of(served(structs.replace(SOUND, requests=requests)), "V16")
    assert found.verdict == "pass"
    assert words in found.detail
    assert ("percentile" in found.detail) == bool(words)


def test_a_latency_without_a_schedule_fails() -> None:
    found = verdict_of(
        served(
            LoadFacts(
                generator="wrk",
                open_loop=False,
                intended_rate=1000.0,
                achieved_rate=1000.0,
                requests=10_000,
            )
        ),
        "V16",
    )
    assert (found.verdict, "no schedule" in found.detail) == ("fail", True)


@pytest.mark.parametrize(("share", "verdict"), [(0.0, "pass"), (0.05, "pass"), (0.3, "warn")])
def test_many_samples_that_were_left_out_warn(share: float, verdict: str) -> None:
    found = verdict_of(discarded(share), "V16")
    assert found.verdict == verdict
    if verdict == "warn":
        assert "the first because 3 of 100 requests failed" in found.detail


def test_a_generator_without_a_rate_has_no_latencies_to_judge() -> None:
    found = verdict_of(served(FREE), "V16")
    assert found.verdict == "unavailable"
    assert "no latency" in found.detail


def test_a_full_generator_may_be_the_limit_itself() -> None:
    load = LoadFacts(generator="wrk", achieved_rate=5e4, requests=500_000, generator_cpu=0.95)
    found = verdict_of(served(load), "V16")
    assert found.verdict == "warn"
    assert "its own limit" in found.detail


def test_processes_without_a_load_are_not_servers() -> None:
    bare = served()
    processes = [changed(p, load=None) for p in bare.processes]
    assert verdict_of(replace(bare, processes=processes), "V16").verdict == "unavailable"
    assert verdict_of(compare(), "V16").verdict == "unavailable"
