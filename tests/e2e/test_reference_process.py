"""Without a warm-up, an uncounted process of the baseline says what all others have to do."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from planned import planned_samples

from heapwise.runner.campaign.steps import REFERENCE_ROUND
from heapwise.store import StoredRun, read_run

pytestmark = pytest.mark.usefixtures("built_native")

COMPARE = ("compare", "--warmup", "0", "--runs", "2", "--allocators", "jemalloc,glibc", "--quiet")


def references(stored: StoredRun) -> list[str]:
    return [
        p.status for p in stored.processes if p.round == REFERENCE_ROUND and not p.facts.counting
    ]


def test_a_run_whose_baseline_failed_goes_on_with_another_reference(
    heapwise: Any, tmp_path: Path
) -> None:
    """What the program prints depends on the allocator: only a reference tells which is wrong."""
    script = (
        "test -e there || exit 4; "
        'case "$LD_PRELOAD" in *jemalloc*) echo other;; *) echo same;; esac'
    )
    for seed in ("1", "2", "3"):
        (tmp_path / "there").unlink(missing_ok=True)
        done = heapwise(*COMPARE, "--seed", seed, "--", "/bin/sh", "-c", script)
        assert "error E030" in done.stderr
        (tmp_path / "there").touch()
        heapwise("resume", "--quiet")
        stored = read_run(tmp_path / "store", "last")
        assert stored.run.state == "complete"
        assert references(stored) == ["failed", "ok"]
        assert {p.status for p in stored.processes if p.subject == "jemalloc"} == {"output_differs"}


def test_a_reference_that_was_interrupted_is_run_again(
    heapwise: Any, environment: dict[str, str], tmp_path: Path
) -> None:
    script = "touch begun; test -e go || exec sleep 60; echo same"
    with subprocess.Popen(
        [sys.executable, "-m", "heapwise", *COMPARE, "--", "/bin/sh", "-c", script],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as child:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < deadline, "it never began"
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=120)
    assert child.returncode == 130, said
    (tmp_path / "go").touch()
    heapwise("resume", "--quiet")
    stored = read_run(tmp_path / "store", "last")
    assert stored.run.state == "complete"
    assert references(stored) == ["interrupted", "ok"]
    assert len(planned_samples(stored)) == 2 * 3
