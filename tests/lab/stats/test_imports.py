"""What every start of the command pays for."""

from __future__ import annotations

import subprocess
import sys


def test_scipy_is_loaded_by_what_calls_it_and_not_before() -> None:
    program = ("import sys, heapwise.analysis, heapwise.runner\n"
               "print(sorted(m for m in sys.modules if m.startswith('scipy')))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=True, timeout=60)
    assert done.stdout.strip() == "[]"
