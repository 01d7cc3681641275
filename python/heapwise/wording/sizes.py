"""Sizes as people write them on a command line."""

from __future__ import annotations

import re

from heapwise.errors import Problem

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_size(text: str, option: str) -> int:
    """``4096``, ``64k``, ``256M`` or ``1GiB`` in bytes. Problem E003 otherwise."""
    found = re.fullmatch(r"(\d+)\s*([kmg]?)(?:i?b)?", text.strip().lower())
    if not found:
        raise Problem("E003", f"{option} {text} is not a size", do="write 64M or 1G")
    return int(found[1]) * UNITS[found[2]]
