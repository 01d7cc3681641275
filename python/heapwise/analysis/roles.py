"""Which subjects of a cell stand for ``best malloc`` or ``fastest other pool``."""

from __future__ import annotations

import numpy as np

from heapwise.analysis.rows import Bench
from heapwise.trust.series import Series

POLICIES = ("unsynchronized", "unsynchronized_trusting", "mutex", "lock_free", "thread_cached",
            "thread_cached_handle")
"""Our pool's policies, by the names of their subjects."""

BEST_MALLOC, OTHER_POOL = "best malloc", "fastest other pool"


def members(bench: Bench, row: dict[str, Series], role: str) -> list[str]:
    """Subjects of the cell that may play the role; a role that is a name plays itself."""
    controls = {n for n, s in bench.subjects().items() if s.control}
    names = [n for n in row if n not in controls]
    if role == BEST_MALLOC:
        return [n for n in names if n.startswith("malloc@")]
    if role == OTHER_POOL:
        return [n for n in names if n not in POLICIES and "@" not in n]
    return [role] if role in names else []


def resolve(bench: Bench, row: dict[str, Series], role: str) -> str | None:
    """The one with the least median; None when the cell has none."""
    return min(members(bench, row, role), key=lambda n: float(np.median(row[n].values)),
               default=None)


def spoken(role: str, name: str) -> str:
    return name if role == name else f"{role} ({name})"
