"""The library under test."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

NAME = "libheapwise-malloc.so"


def library() -> Path:
    """``HEAPWISE_MALLOC``, else the one in ``HEAPWISE_NATIVE``, else the installed one.

    FileNotFoundError, with what to do, when there is none.
    """
    installed = Path(sysconfig.get_path("purelib")) / "heapwise" / "native"
    native = Path(os.environ.get("HEAPWISE_NATIVE") or installed)
    path = Path(os.environ.get("HEAPWISE_MALLOC") or native / NAME).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: make setup builds it")
    return path
