"""The phases of a program of heap/rl_programs: its start, its work, and an idle phase.

A block of an unusual size marks in a recording where the work begins and ends. The start of an
interpreter and its imports are the same for each program, and are not what the program is about.
"""

import gc
import os
import sys
import time

MARK = 1_234_567
"""Bytes that no program here asks for by chance."""


def begin() -> None:
    """The start is over."""
    bytearray(MARK)


def end() -> None:
    """Sleeps for the seconds of ``IDLE_S`` with all that the program still holds, and ends.

    The interpreter is not taken down: that would free memory after the idle phase."""
    bytearray(MARK)
    gc.collect()
    sys.stdout.flush()
    time.sleep(float(os.environ.get("IDLE_S", "0")))
    os._exit(0)
