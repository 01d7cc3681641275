"""A profile tells what the program did, as well as its samples can: intervals hold the truth."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heapwise.catalog import DRAIN, PROFILER, RECORDER, native_part
from heapwise.trace import open_trace
from heapwise.trace.contents import read_contents
from heapwise.trace.profile import Estimate, Samples, quantiles, share, total
from heapwise.trace.sampled_stacks import read_sampled_stacks

SOURCE = Path(__file__).resolve().parents[2] / "data" / "recorded" / "lifetimes.cpp"

SIGMAS = 6.0 / 1.96
"""Half widths of 95 % intervals: a correct profile is further off once in 500 million times."""


RANKS = (0.1, 0.5, 0.9)
"""Of the lifetimes that the program prints."""

RANK = 0.002
"""A trace has the blocks of the C library too, and a program that loses its processor between a
call and its clock takes that time for a part of the lifetime, or does not."""


def profiled(trace: Path, *command: str | Path, sample_every: int) -> str:
    """What the program prints."""
    return subprocess.run(
        [
            str(native_part(DRAIN)),
            "-o",
            str(trace),
            "--recorder",
            str(native_part(PROFILER)),
            "--stack-every",
            "1",
            "--sample-every",
            str(sample_every),
            "--about",
            json.dumps({"sample_every": sample_every}),
            "--",
            *map(str, command),
        ],
        check=True,
        timeout=120,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


@pytest.fixture(scope="module")
def lifetimes(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What the program knows of itself, and its profile."""
    folder = tmp_path_factory.mktemp("profiled")
    program, trace = folder / "lifetimes", folder / "lifetimes.hwt"
    subprocess.run(
        ["c++", "-O1", "-g", "-fno-builtin", "-std=c++20", str(SOURCE), "-o", str(program)],
        check=True,
    )
    return json.loads(profiled(trace, program, sample_every=4096)), trace


def assert_near(estimate: Estimate, truth: float) -> None:
    """The truth is in an interval that is SIGMAS times as wide."""
    low = estimate.value - SIGMAS * (estimate.value - estimate.low)
    high = estimate.value + SIGMAS * (estimate.high - estimate.value)
    assert low <= truth <= high, f"{truth} is not in {low} to {high}"


def sites_of(trace: Path) -> dict[str, Samples]:
    """The samples of each function that calls the allocator."""
    from heapwise.trace.names.symbols import Symbols

    with open_trace(trace) as opened:
        symbols = Symbols(opened.modules)
        found = {}
        for number, samples in read_sampled_stacks(opened).samples.by_site():
            address = opened.site_address(number)
            assert address is not None
            function = str(symbols.place(address).function)
            found[
                next((name for name in ("make_small", "make_large") if name in function), function)
            ] = samples
    return found


def test_a_profile_says_that_its_figures_are_estimates(
    lifetimes: tuple[dict[str, Any], Path],
) -> None:
    from heapwise.cli.frame.tell.trace_text import profile_lines
    from heapwise.trace.names.symbols import Symbols
    from heapwise.trace.names.wrappers import Wrappers
    from heapwise.trace.sampled_stacks import read_sampled_stacks

    with open_trace(lifetimes[1]) as opened:
        said = " ".join(
            " ".join(
                profile_lines(
                    opened, read_sampled_stacks(opened), Symbols(opened.modules), Wrappers(), 5
                )
            ).split()
        )
    assert "Figures are estimates, with 95 % intervals" in said
    assert "make_large" in said


def test_blocks_and_bytes_are_estimated_without_bias(
    lifetimes: tuple[dict[str, Any], Path],
) -> None:
    known, trace = lifetimes
    with open_trace(trace) as opened:
        found = read_sampled_stacks(opened).samples
    assert_near(found.blocks(), known["blocks"])
    assert_near(found.bytes(), known["small_bytes"] + known["large_bytes"])
    assert found.live_bytes().value <= 0.05 * found.bytes().value
    assert found.blocks().high - found.blocks().low < 0.1 * known["blocks"]


def assert_quantiles_near(found: Samples, unit: float, truths: list[float]) -> None:
    """Each true quantile is within ten percent of one that has the same rank in the profile.

    A program that loses its processor for a while has few lifetimes of some lengths: there, a
    little error of the rank is a large one of the length. So the ranks are compared.
    """
    ended = found.only(found.ended)
    for rank, truth in zip(RANKS, truths, strict=True):
        below = share(ended.chance, ended.lifetime * unit < 0.9 * truth)
        at_most = share(ended.chance, ended.lifetime * unit <= 1.1 * truth)
        assert below.value - SIGMAS * (below.value - below.low) <= rank
        assert at_most.value + SIGMAS * (at_most.high - at_most.value) >= rank


def test_quantiles_of_lifetimes_are_within_ten_percent(
    lifetimes: tuple[dict[str, Any], Path],
) -> None:
    known, trace = lifetimes
    with open_trace(trace) as opened:
        found = read_sampled_stacks(opened).samples
        unit = opened.ns_a_unit
    assert_quantiles_near(found, unit, known["lifetimes"])


def test_quantiles_of_a_full_trace_are_within_five_percent(
    lifetimes: tuple[dict[str, Any], Path],
    tmp_path: Path,
) -> None:
    trace = tmp_path / "full.hwt"
    known = json.loads(
        subprocess.run(
            [
                str(native_part(DRAIN)),
                "-o",
                str(trace),
                "--recorder",
                str(native_part(RECORDER)),
                "--",
                str(lifetimes[1].parent / "lifetimes"),
            ],
            check=True,
            timeout=120,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    )
    with open_trace(trace) as opened:
        spread, unit = read_contents(opened).lifetime_spread, opened.ns_a_unit
    for rank, truth in zip(RANKS, known["lifetimes"], strict=True):
        low, high = ((spread.quantile(rank + other) or 0) * unit for other in (-RANK, RANK))
        assert 0.95 * low <= truth <= 1.05 * high, (rank, truth, low, high)


def test_the_site_is_the_caller_of_operator_new(lifetimes: tuple[dict[str, Any], Path]) -> None:
    known, trace = lifetimes
    sites = sites_of(trace)
    assert_near(sites["make_large"].blocks(), known["large"])
    assert_near(sites["make_large"].bytes(), known["large_bytes"])
    assert_near(sites["make_small"].bytes(), known["small_bytes"])


def test_each_sample_has_its_stack(lifetimes: tuple[dict[str, Any], Path]) -> None:
    from heapwise.trace.names.symbols import Symbols

    with open_trace(lifetimes[1]) as opened:
        events = next(opened.events())
        symbols = Symbols(opened.modules)
        stacks = [stack.addresses for stack in events.stacks]
    assert len(stacks) == int(events.makes.sum())
    names = [str(symbols.place(frame).function) for frame in stacks[100]]
    assert "main" in names


def test_a_forked_child_is_not_in_the_profile(known: Path, tmp_path: Path) -> None:
    trace = tmp_path / "fork.hwt"
    profiled(trace, known, "fork", sample_every=64)
    with open_trace(trace) as opened:
        sizes = read_sampled_stacks(opened).samples.size
    assert not (sizes == 7777).any()
    assert ((sizes >= 24) & (sizes < 31)).any()


def test_each_call_ends_the_samples_that_it_should(known: Path, tmp_path: Path) -> None:
    """Nearly every block is a sample, so each way to make and to end one is met."""
    trace = tmp_path / "calls.hwt"
    profiled(trace, known, "calls", sample_every=1)
    with open_trace(trace) as opened:
        found = read_sampled_stacks(opened).samples
        assert opened.summary is not None
        assert opened.summary.unknown_ends == opened.summary.lost_ends == 0
    # libstdc++ rounds the size of an aligned block up.
    of_the_program = found.only(np.isin(found.size, [1111, 1152, 2222, 3333]))
    assert len(of_the_program) == 14
    assert of_the_program.ended.all()


def test_a_thread_that_is_to_be_cancelled_comes_back_from_malloc(tmp_path: Path) -> None:
    """The look at a library that was loaded opens files: by the C library, that would be a place
    where a thread may be cancelled."""
    program, plugin = tmp_path / "cancelled", tmp_path / "plugin.so"
    options = ["-O1", "-fno-builtin", "-pthread"]
    source = SOURCE.with_name("cancelled.c")
    subprocess.run(["cc", *options, str(source), "-o", str(program), "-ldl"], check=True)
    empty = ["cc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", str(plugin)]
    subprocess.run(empty, check=True)
    trace = tmp_path / "cancelled.hwt"
    assert profiled(trace, program, plugin, sample_every=524288) == "reached\n"


def test_threads_that_sample_and_end_lose_nothing(known: Path, tmp_path: Path) -> None:
    trace = tmp_path / "threads.hwt"
    profiled(trace, known, "threads", "300", sample_every=1)
    with open_trace(trace) as opened:
        found = read_sampled_stacks(opened).samples
    churned = found.only((found.size >= 24) & (found.size < 31))
    assert len(churned) >= 3000
    assert churned.ended.mean() > 0.99


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """400 simulated profiles of one program: few samples, and blocks that are sure to be some."""
    random = np.random.default_rng(7)
    size = np.concatenate([np.full(3000, 48.0), np.full(40, 3000.0), np.full(3, 1e6)])
    life = random.lognormal(0, 2, len(size))
    chance = -np.expm1(-size / 4096)
    handed = random.random(len(size)) < 0.2
    truths = [len(size), size.sum(), float(handed.mean()), float(np.median(life))]
    hits = np.zeros(4)
    runs = 400
    for _ in range(runs):
        seen = random.random(len(size)) < chance
        estimates = [
            total(chance[seen], np.ones(int(seen.sum()))),
            total(chance[seen], size[seen]),
            share(chance[seen], handed[seen]),
            *quantiles(life[seen], chance[seen], [0.5]),
        ]
        hits += [
            each.low <= truth <= each.high for each, truth in zip(estimates, truths, strict=True)
        ]
    assert (hits / runs > 0.92).all(), hits / runs


def test_an_empty_profile_has_no_quantiles() -> None:
    none = np.zeros(0)
    assert total(none, none) == Estimate(0, 0, 0)
    assert np.isnan(quantiles(none, none, [0.5])[0].value)
    assert np.isnan(share(none, none.astype(bool)).value)


FORKS = """\
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void *in_parent(void) { return malloc(1000); }
__attribute__((noinline)) void *in_child(void) { return malloc(1000); }
int main(void) {
  void *volatile kept[2000];
  for (int k = 0; k < 2000; ++k) kept[k] = in_parent();
  for (int child = 0; child < 2; ++child) {
    if (fork() == 0) {
      for (int k = 0; k < 2000; ++k) free(kept[k]);
      for (int k = 0; k < 4000; ++k) kept[k % 2000] = in_child();
      _exit(0);
    }
  }
  while (wait(NULL) > 0) {}
  return 0;
}
"""


def test_a_profile_follows_children_each_with_samples_of_its_own(
    heapwise: Any, tmp_path: Path
) -> None:
    """A child frees the blocks of its parent, which are not among its samples. Two children take
    other samples of the same calls."""
    (tmp_path / "p.c").write_text(FORKS)
    program, trace = tmp_path / "p", tmp_path / "p.hwt"
    subprocess.run(["cc", "-O1", "-g", "-o", program, tmp_path / "p.c"], check=True, timeout=60)
    words = ["record", "--profile", "--follow", "--sample-every", "4k", "-o", str(trace)]
    done = heapwise(*words, "--json", "--", str(program))
    assert done.returncode == 0, done.stderr
    first, *children = json.loads(done.stdout)["summary"]["processes"]
    sampled = []
    for process, calls in ((first, 2000), *((child, 4000) for child in children)):
        with open_trace(Path(process["trace"])) as opened:
            found = read_sampled_stacks(opened).samples
            of_calls = found.size == 1000
            assert_near(found.bytes(), calls * 1000)
            assert opened.summary is not None
            assert opened.summary.unknown_ends == 0
            sampled.append(int(of_calls.sum()))
    assert len(children) == 2
    said = heapwise("trace", children[0]["trace"]).stdout
    assert "in_child (p.c:5)" in said
    assert "in_parent" not in said
    assert f"{first['trace']} ({first['blocks']} samples): p" in " ".join(said.split())
