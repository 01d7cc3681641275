"""The contents of a trace are the sums of its events, counted one by one."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from heapwise.runner.recording import Recording, record
from heapwise.trace import FrameKind, Kind, open_trace
from heapwise.trace.columns import MAKES
from heapwise.trace.contents import LARGE_BYTES, Contents, read_contents

PROGRAM = r"""
import random, threading
random.seed(5)
def work(seed):
    own = random.Random(seed)
    kept = []
    for step in range(4000):
        kept.append(bytearray(own.choice((10, 300, 3000, 70000 if step % 50 == 0 else 40))))
        if len(kept) > 200:
            kept.pop(own.randrange(len(kept)))
        if step % 7 == 0:
            kept[own.randrange(len(kept))].extend(b"x" * own.randrange(2000))
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
[each.start() for each in threads]
[each.join() for each in threads]
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("contents") / "python.hwt"
    record(Recording(["python3", "-c", PROGRAM], found, stack_every=16))
    return found


def counted(path: Path) -> Contents:
    """The same one event after the other."""
    found = Contents()
    lives: dict[int, tuple[int, int, int, int]] = {}
    live: Counter[int] = Counter()
    with open_trace(path) as opened:
        assert all(each.kind is not FrameKind.LIVE for each in opened.frames)
        for events in opened.events():
            for row in range(len(events.kind)):
                kind, site = Kind(events.kind[row]), int(events.site[row])
                size, time, thread, block = (
                    int(each[row])
                    for each in (events.size, events.time, events.thread, events.block)
                )
                found.events += 1
                found.calls[kind] += 1
                found.by_thread[thread] += 1
                found.duration = time
                if MAKES[kind]:
                    found.blocks += 1
                    found.bytes += size
                    found.sizes[min(size, 4096)] += size <= 4096
                    lives[block] = (site, size, time, thread)
                    live[site] += size
                elif kind in (Kind.FREE, Kind.RESIZE_FROM) and block in lives:
                    site, size, begin, maker = lives.pop(block)
                    found.ended += 1
                    found.handed_over += maker != thread
                    found.lifetimes[(time - begin).bit_length()] += 1
                    live[site] -= size
                total = sum(live.values()) if len(live) < 500 else 0
                if total > found.peak.bytes:
                    found.peak = type(found.peak)(total, len(lives), time)
    return found


def test_sums_are_those_of_the_events(trace: Path) -> None:
    wanted = counted(trace)
    with open_trace(trace) as opened:
        found = read_contents(opened)
        assert opened.damage == ""
    for name in ("events", "blocks", "bytes", "ended", "handed_over", "duration"):
        assert getattr(found, name) == getattr(wanted, name), name
    assert found.calls == wanted.calls
    assert found.by_thread == wanted.by_thread
    assert found.sizes.tolist() == wanted.sizes.tolist()
    assert found.lifetimes.tolist() == wanted.lifetimes.tolist()
    assert (found.peak.bytes, found.peak.blocks) == (wanted.peak.bytes, wanted.peak.blocks)


def test_the_share_that_was_read_is_told(tmp_path: Path) -> None:
    path, shares = tmp_path / "long.hwt", list[float]()
    program = "for (1 .. 150) { my @kept = map { 'x' x $_ } 1 .. 2000 }"
    record(Recording(["perl", "-e", program], path))
    with open_trace(path) as opened:
        read_contents(opened, shares.append)
        frames = sum(each.kind == FrameKind.EVENTS for each in opened.frames)
    assert len(shares) == min(99, frames - 1) > 0
    assert shares == sorted(set(shares))
    assert shares[0] >= 0.01
    assert shares[-1] < 1


def test_sites_add_up_to_the_trace(trace: Path) -> None:
    with open_trace(trace) as opened:
        found = read_contents(opened)
    sums: dict[str, int] = defaultdict(int)
    for site in found.sites.values():
        for name in ("count", "bytes", "ended", "live_blocks", "large_count"):
            sums[name] += getattr(site, name)
        assert int(site.lifetimes.sum()) == site.ended
    assert (sums["count"], sums["bytes"]) == (found.blocks, found.bytes)
    assert sums["ended"] == found.ended
    assert sums["live_blocks"] == found.blocks - found.ended
    stacks = found.stacks.values()
    assert sums["large_count"] == sum(stack.every.large_count for stack in stacks) > 0
    assert found.peak.bytes == sum(found.peak.at_peak(number)[1] for number in found.sites)
    assert sum(int(row) for row in found.size_spread.counts) == found.blocks
    assert found.size_spread.quantile(1) == max(site.largest for site in found.sites.values())
    assert max(site.largest for site in found.sites.values()) >= LARGE_BYTES
