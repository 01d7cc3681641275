"""Which subjects of a cell an aim means by ``rivals``."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from heapwise.analysis.verdicts.roles import BEST_MALLOC, IN_THE_PROGRAM, OTHER_POOL, is_other_pool
from heapwise.analysis.verdicts.roles import members as members_of_role
from heapwise.evidence import Evidence, ranking_of
from heapwise.evidence.series import Series
from heapwise.model import SubjectName

OURS, INLINED = "malloc@heapwise", IN_THE_PROGRAM
"""Our heap, preloaded and by its header."""

ANY_OTHER = "any other allocator"
"""Pools of others and every malloc but ours."""
BEST_PEER, LEANEST_PEER = "best peer", "leanest peer"

OTHER_MALLOC, ANY_MALLOC, COLLECTORS = "any other malloc", "any malloc", "any collector"
"""The rivals of programs that are rows of their own: what the aims of the trees name."""

DLMALLOC = "dlmalloc*"
"""Rows of a library with one malloc and one free for each node, as those of ``malloc`` have."""

LEAN = ("jemalloc", "mimalloc", "snmalloc", "tcmalloc", "rpmalloc")
"""Those that the aim of peak memory names; a version may follow, or a maker precede the name."""


def members(evidence: Evidence, row: dict[str, Series], role: str) -> list[str]:
    """Subjects of the cell that may play the role; one that is a name or a pattern names them."""
    if role in (BEST_MALLOC, OTHER_POOL):
        return members_of_role(evidence, row, role)
    names = [n for n in row if n not in evidence.control_names]
    if role == BEST_PEER:
        return [n for n in names if _is_other_malloc(n)]
    if role == LEANEST_PEER:
        return [n for n in names if any(is_like(n, lean) for lean in LEAN)]
    if role in (ANY_MALLOC, OTHER_MALLOC):
        mallocs = [n for n in names if _is_malloc(n) or fnmatchcase(n, DLMALLOC)]
        return [n for n in mallocs if role == ANY_MALLOC or not _is_our_malloc(n)]
    if role == COLLECTORS:
        return [n for n in names if ranking_of(evidence).groups.get(n) == "collector"]
    if role == ANY_OTHER:
        return [n for n in names if is_other_pool(n) or _is_other_malloc(n)]
    return [n for n in names if fnmatchcase(n, role)]


def _is_malloc(subject: str) -> bool:
    return SubjectName.parse(subject).is_malloc


def _is_our_malloc(subject: str) -> bool:
    """Profiles and other builds of our heap are called heapwise-guarded, heapwise-old and so on."""
    return subject == OURS or subject.startswith(f"{OURS}-")


def _is_other_malloc(subject: str) -> bool:
    return _is_malloc(subject) and not _is_our_malloc(subject)


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
