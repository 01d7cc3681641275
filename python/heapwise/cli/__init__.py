"""The command line: one file per verb in this folder, found by folder.

A verb's file has a function ``register(app)`` that adds it. It imports typer, the model and
``cli.frame`` at its top and everything heavy inside its functions, so that ``--help`` stays fast.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """The command. Loading all of it takes a while, in which Ctrl-C is not a mistake of ours."""
    _have_one_thread()
    try:
        from heapwise.cli.frame.app import main as run

        run()
    except (KeyboardInterrupt, RuntimeError) as error:
        if not isinstance(error.__cause__ or error, KeyboardInterrupt):
            raise  # Python 3.11 makes a RuntimeError of Ctrl-C while a class is made
        from heapwise.errors import Exit

        print("stopped by you. Nothing was started.", file=sys.stderr)
        sys.exit(int(Exit.INTERRUPTED))


def _have_one_thread() -> None:
    """numpy's OpenBLAS starts a thread for each processor when it is loaded, which nothing here
    needs, and raises SIGINT if a limit of processes does not let it. Not in ``os.environ``, from
    which measured programs get their variables."""
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        os.putenv("OPENBLAS_NUM_THREADS", "1")
