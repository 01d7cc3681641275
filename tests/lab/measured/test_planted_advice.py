"""Real programs with planted call sites: what the advice finds, and what following it gains."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from planted_sites.measure import judge
from planted_sites.page import is_right, slows
from planted_sites.programs import LIBRARY, PROGRAMS, ROOT

LONG = os.environ.get("HEAPWISE_TIER") == "long"

pytestmark = pytest.mark.alone


@pytest.mark.skipif(not LONG, reason="ten minutes: make test-long")
def test_following_the_advice_slows_no_program(tmp_path: Path) -> None:
    """Times depend on the machine; that the advice does no harm does not."""
    if not LIBRARY.exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True)
        subprocess.run(
            ["cmake", "--build", "--preset", "release", "--target", "heapwise_static"],
            cwd=ROOT,
            check=True,
        )
    judged = {
        each.name: judge(each, tmp_path, rounds=20, pairs=30, arguments=[]) for each in PROGRAMS
    }
    assert not [name for name, one in judged.items() if slows(one)]
    assert sum(is_right(each, judged[each.name]) for each in PROGRAMS) >= 7
