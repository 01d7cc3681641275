"""Busy processes that run beside a measurement."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SPIN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n sum(range(100000))"
"""It ends when its parent is gone, however that ended."""


@contextmanager
def load(processes: int) -> Iterator[None]:
    """As many processes compute until the context ends."""
    busy = [
        subprocess.Popen([sys.executable, "-S", "-c", SPIN], stdin=subprocess.DEVNULL)
        for _ in range(processes)
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
