"""What the sources ask the processor to fetch early is asked for in the machine code too.

GCC takes a function that only prefetches for one without an effect, and deletes calls of it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFETCH = re.compile(r"^\s+(prefetch\w*|prfm)\s", re.MULTILINE)


def test_the_way_back_to_mixed_spans_prefetches() -> None:
    command = [
        "g++",
        "-std=c++20",
        "-O2",
        "-fPIC",
        "-S",
        "-o",
        "-",
        "-D_GNU_SOURCE",
        "-DHEAPWISE_PROFILE=default_profile",
        "-DHEAPWISE_HEAP_CHECKS=0",
        "-Iinclude",
        "-Isrc",
        "src/heap/central/mixed.cpp",
    ]
    compilation = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert compilation.returncode == 0, compilation.stderr
    # The record of a span, and a word of its bitmap.
    assert len(PREFETCH.findall(compilation.stdout)) >= 2
