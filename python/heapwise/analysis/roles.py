"""Which subjects of a cell stand for ``best malloc``, ``best peer`` or ``fastest other pool``."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from heapwise.evidence import Evidence
from heapwise.evidence.series import Series
from heapwise.model import SubjectName

POLICIES = ("unsynchronized", "mutex", "lock_free", "thread_cached", "arena")
"""Subjects of our pools and our arena have these names, or begin with one of them and ``_``."""

BARE_LIST = "bare_list"
"""A free list and nothing else: no pool that a user could take, and the least that one can cost."""

BEST_MALLOC, OTHER_POOL = "best malloc", "fastest other pool"
ANY_OTHER = "any other allocator"
"""Pools of others and every malloc but ours."""
BEST_PEER, LEANEST_PEER = "best peer", "leanest peer"

OURS, INLINED = "malloc@heapwise", "heap_inlined"
"""Our heap, preloaded and by its header: the goals are about these, and nothing else asks."""

OTHER_MALLOC, ANY_MALLOC, COLLECTORS = "any other malloc", "any malloc", "any collector"
"""Of programs that are rows of their own: what the goals of the trees name."""

DLMALLOC = "dlmalloc*"
"""Rows of a library with one malloc and one free for each node, as those of ``malloc`` have."""

LEAN = ("jemalloc", "mimalloc", "snmalloc", "tcmalloc", "rpmalloc")
"""Those that the goal of peak memory names; a version may follow, or a maker precede the name."""


def members(evidence: Evidence, row: dict[str, Series], role: str) -> list[str]:
    """Subjects of the cell that may play the role; one that is a name or a pattern names them."""
    controls = evidence.control_names
    names = [n for n in row if n not in controls]
    if role == BEST_MALLOC:
        return [n for n in names if _is_malloc(n)]
    if role == BEST_PEER:
        return [n for n in names if _is_other_malloc(n)]
    if role == LEANEST_PEER:
        return [n for n in names if any(is_like(n, lean) for lean in LEAN)]
    if role in (ANY_MALLOC, OTHER_MALLOC):
        mallocs = [n for n in names if _is_malloc(n) or fnmatchcase(n, DLMALLOC)]
        return [n for n in mallocs if role == ANY_MALLOC or not _is_our_malloc(n)]
    if role == COLLECTORS:
        return [n for n in names if evidence.groups.get(n) == "collector"]
    if "*" in role:
        return [n for n in names if fnmatchcase(n, role)]
    if role == OTHER_POOL:
        return [n for n in names if is_other_pool(n)]
    if role == ANY_OTHER:
        return [n for n in names if is_other_pool(n) or _is_other_malloc(n)]
    return [role] if role in names else []


def _is_malloc(subject: str) -> bool:
    return SubjectName.parse(subject).is_malloc


def _is_our_malloc(subject: str) -> bool:
    """Profiles and other builds of our heap are called heapwise-guarded, heapwise-old and so on."""
    return subject == OURS or subject.startswith(f"{OURS}-")


def _is_other_malloc(subject: str) -> bool:
    return _is_malloc(subject) and not _is_our_malloc(subject)


def is_our_pool(subject: str) -> bool:
    """By the name of the subject."""
    return any(subject == policy or subject.startswith(f"{policy}_") for policy in POLICIES)


def is_other_pool(subject: str) -> bool:
    """A pool that a user could take instead of ours."""
    ours = is_our_pool(subject) or subject in (BARE_LIST, INLINED)
    return not ours and not SubjectName.parse(subject).peer


def is_like(subject: str, peer: str) -> bool:
    """``malloc@mimalloc3`` and ``malloc@google-tcmalloc`` are a mimalloc and a tcmalloc."""
    name = SubjectName.parse(subject)
    return name.is_malloc and peer in name.peer


def absent(subjects: Iterable[str], role: str) -> list[str]:
    """Peers that the role names and of which no subject is one."""
    names = list(subjects)
    return [
        peer
        for peer in LEAN
        if role == LEANEST_PEER and not any(is_like(name, peer) for name in names)
    ]


def resolve(evidence: Evidence, row: dict[str, Series], role: str) -> str | None:
    """The one with the least median; None when the cell has none."""
    return min(members(evidence, row, role), key=lambda n: row[n].middle, default=None)


def spoken(role: str, name: str) -> str:
    return name if role == name else f"{role} ({name})"
