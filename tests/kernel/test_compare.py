"""A whole comparison in a guest: figures of control groups come to the terminal and to the page."""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from kernel.machine import Ended

pytestmark = pytest.mark.slow


def test_a_comparison_shows_the_peak_of_each_group(
    boot: Callable[..., Ended], compiled: Callable[[str], Path]
) -> None:
    python = Path(sys.executable).resolve()
    packages = Path(sysconfig.get_path("purelib"))
    program = compiled("touches")
    ended = boot(
        f"""
        export PYTHONPATH={packages} HEAPWISE_STORE=/tmp/store
        {python} -m heapwise compare -r 2 --allocators glibc,heapwise --export /tmp/page.html \\
          -- {program} 48 1500
        grep -o 'Control groups' /tmp/page.html
    """,
        program,
        python,
        Path(sysconfig.get_path("stdlib")),
        packages,
    )
    assert ended.exit_code == 0, ended.output
    peaks = dict(re.findall(r"^(glibc|heapwise) .* ([\d.]+) MiB$", ended.output, re.MULTILINE))
    assert "cgroup peak" in ended.output
    assert set(peaks) == {"glibc", "heapwise"}, ended.output
    assert all(48 <= float(peak) <= 56 for peak in peaks.values()), peaks
    assert ended.output.endswith("Control groups\n")
