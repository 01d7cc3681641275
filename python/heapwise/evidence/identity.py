"""Which library malloc came from in a process, by the lines that the probe wrote in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwise.model import Identity, Library, Peer, Process

SYSTEM_LIBRARY = re.compile(r"(libc\.so|libc-|ld-musl)")


def same_library(library: Library | None, peer: Peer) -> bool:
    """By build-id where both have one, else by file name."""
    library = library or Library()
    path = library.path or ""
    if library.build_id and peer.build_id:
        return library.build_id == peer.build_id
    if peer.path:
        return path != "" and Path(path).resolve() == Path(peer.path).resolve()
    return bool(SYSTEM_LIBRARY.match(Path(path).name))


def own_allocators(records: Iterable[Identity], system: Peer) -> set[str]:
    """Executables whose malloc is not the system's although nothing was preloaded."""
    return {record.exe for record in records if not same_library(record.malloc, system)}


def executables(process: Process) -> Counter[str]:
    """Path of an executable -> how many processes of the tree the probe was in."""
    found: Counter[str] = Counter()
    for record in process.identity:
        if record.exe:
            found[record.exe] += record.count
    return found


@dataclass(frozen=True)
class Uneven:
    """An executable that the probe was in another number of times than under the baseline."""

    subject: str
    executable: str
    times: int
    usual: int

    @property
    def is_missing(self) -> bool:
        return self.times < self.usual

    def __str__(self) -> str:
        return f"{self.executable} {self.times} instead of {self.usual} times under {self.subject}"


def uneven(base: Sequence[Process], others: Iterable[Process]) -> list[Uneven]:
    """Once for each subject and executable. If the number varies under the baseline itself, only
    what is always outside of its range is told."""
    usual = [executables(process) for process in base]
    names = {name for counts in usual for name in counts}
    seen: dict[str, list[Counter[str]]] = {}
    for process in others:
        seen.setdefault(process.subject, []).append(executables(process))
    found = []
    for subject, all_counts in seen.items():
        for name in sorted(names):
            times, right = [c[name] for c in all_counts], [c[name] for c in usual]
            least, most = min(right), max(right)
            if min(times) < least and (least == most or max(times) < least):
                found.append(Uneven(subject, name, min(times), least))
            elif max(times) > most and (least == most or min(times) > most):
                found.append(Uneven(subject, name, max(times), most))
    return found


def lost_programs(processes: Iterable[Process]) -> dict[tuple[str, str], int]:
    """Path of a program in which the probe was silent, and what became of LD_PRELOAD -> the most
    times in one process of a subject."""
    found: Counter[tuple[str, str]] = Counter()
    for process in processes:
        for lost in process.facts.probe.lost if process.facts.probe else ():
            key = lost.target or "a program", lost.preload
            found[key] = max(found[key], lost.count)
    return dict(found.most_common())
