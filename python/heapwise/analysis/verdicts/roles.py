"""Which subjects of a cell stand for ``best malloc`` or ``fastest other pool``."""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.series import Series
from heapwise.model import SubjectName

POLICIES = ("unsynchronized", "mutex", "lock_free", "thread_cached", "arena")
"""The pools and the arena of the library have these names, or begin with one of them and ``_``."""

BARE_LIST = "bare_list"
"""A free list and nothing else: no pool that a user could take, and the least that one can cost."""

IN_THE_PROGRAM = "heap_inlined"
"""A heap that is compiled into the program: not a pool."""

BEST_MALLOC, OTHER_POOL = "best malloc", "fastest other pool"


def members(evidence: Evidence, row: dict[str, Series], role: str) -> list[str]:
    """Subjects of the cell that may play the role; any other role is the name of a subject."""
    names = [n for n in row if n not in evidence.control_names]
    if role == BEST_MALLOC:
        return [n for n in names if SubjectName.parse(n).is_malloc]
    if role == OTHER_POOL:
        return [n for n in names if is_other_pool(n)]
    return [role] if role in names else []


def is_library_pool(subject: str) -> bool:
    """By the name of the subject."""
    return any(subject == policy or subject.startswith(f"{policy}_") for policy in POLICIES)


def is_other_pool(subject: str) -> bool:
    """A pool that a user could take instead of the library's."""
    known = is_library_pool(subject) or subject in (BARE_LIST, IN_THE_PROGRAM)
    return not known and not SubjectName.parse(subject).peer


def resolve(evidence: Evidence, row: dict[str, Series], role: str) -> str | None:
    """The one with the least median; None when the cell has none."""
    return min(members(evidence, row, role), key=lambda n: row[n].middle, default=None)


def spoken(role: str, name: str) -> str:
    return name if role == name else f"{role} ({name})"
