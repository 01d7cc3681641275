"""Standard streams as they have to be before anything is printed or started."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper


def prepare_streams() -> None:
    """Opens what is closed, and lets no letter that the terminal's encoding lacks end a run.

    A closed descriptor would be taken by the next file that is opened, such as the samples.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def silence(descriptor: int) -> None:
    """Later output goes nowhere: what is still buffered would fail once more at the end."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
