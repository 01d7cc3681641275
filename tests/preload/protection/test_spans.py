"""Spans of small blocks: pages without access behind them, and blocks without a neighbour."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

SPANS = Path(__file__).parent / "spans.c"
SLICE = 1 << 16


@pytest.mark.parametrize("use", ["behind", "before", "child", "later"])
@pytest.mark.parametrize("size", [8, 40, 1000, 4096, 20_000])
def test_hardened_finds_a_write_beyond_a_span_of_small_blocks(
    hardened: Any, hiding: Any, compiled: Any, tmp_path: Path, size: int, use: str
) -> None:
    report = tmp_path / "report"
    done = hiding(
        hardened,
        compiled(SPANS),
        use,
        str(size),
        HEAPWISE_MALLOC_REPORT=str(report),
        HEAPWISE_MALLOC_GUARD_EVERY="0",
    )
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == "out-of-bounds"
    from_end = -int(found["address"], 16) % SLICE
    assert from_end == (1 if use == "before" else 4096)
    assert found["block"] == done.out.decode().split()[0]


def test_the_memory_of_a_span_can_be_used_again(profile: Any, hiding: Any, compiled: Any) -> None:
    done = hiding(profile, compiled(SPANS), "reused")
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done


@pytest.mark.parametrize("limit", ["unlimited", "1000000"])
def test_spans_without_a_guard_page_are_counted(
    hardened: Any, hiding: Any, compiled: Any, request: pytest.FixtureRequest, limit: str
) -> None:
    """Under a limit of data a page is hidden by a mark, or not at all."""
    done = hiding(
        hardened,
        "/bin/sh",
        "-c",
        f"ulimit -d {limit}; exec {compiled(SPANS)} reused",
        HEAPWISE_MALLOC_STATS="1",
    )
    assert (done.status, done.out) == (0, b"done\n"), done
    text = done.err.rsplit("profile hardened", 1)[1]
    having = int(re.search(r"spans with a guard page +(\d+)", text)[1])
    missing = int(re.search(r"spans without one +(\d+)", text)[1])
    can_hide = limit == "unlimited" or request.node.callspec.params["hiding"] == "marks"
    assert (having > 0, missing > 0) == (can_hide, not can_hide), text


@pytest.mark.parametrize("size", [8, 40, 100])
def test_half_of_the_first_blocks_have_no_neighbour(
    hardened: Any, compiled: Any, size: int
) -> None:
    done = hardened.run(compiled(SPANS), "gaps", str(size), HEAPWISE_MALLOC_GUARD_EVERY="0")
    # Of 63. Means are 28 to 45 and deviations 3.5; under the default profile it is 0.
    assert 10 < int(done.out) < 62, done
