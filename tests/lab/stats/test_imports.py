"""What every start of the command pays for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import heapwise


def test_scipy_is_loaded_by_what_calls_it_and_not_before() -> None:
    program = ("import sys, heapwise.analysis, heapwise.runner\n"
               "print(sorted(m for m in sys.modules if m.startswith('scipy')))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_scipy_stats_is_never_loaded() -> None:
    sources = Path(heapwise.__file__).parent.rglob("*.py")
    loading = [path for path in sources if re.search(
        r"^\s*(from scipy\.stats|from scipy import .*\bstats|import scipy\.stats)",
        path.read_text(encoding="utf-8"), re.MULTILINE)]
    assert loading == []
