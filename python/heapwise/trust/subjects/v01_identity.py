"""Did the program use the library that its row names?

If a library cannot be preloaded, the loader ignores it without an error, and the program runs with
another malloc. So a probe inside every process records the path and the build-id of the library
that serves malloc. Under each allocator, the same number of executables must have the library, and
the program must have called malloc. V2 says why programs that were started without the library did
not have it.
If it fails: the row has no value. Read what the loader printed on the program's stderr.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heapwise.evidence import Evidence, calls_of
from heapwise.evidence.identity import (
    Uneven,
    lost_programs,
    own_allocators,
    same_library,
    uneven,
)
from heapwise.evidence.kept import timed
from heapwise.model import Check, Identity, Peer, Process, Setup, Verdict
from heapwise.wording.lists import counted, listed

ID, TITLE = "V1", "The right allocator was inside"


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    peers = {s.name: s.peer for s in stored.run.plan.subjects if s.peer is not None}
    watched = [p for p in stored.processes if p.subject in peers and timed(p)]
    beside = [
        p
        for p in stored.processes
        if p.subject in peers and p.identity and p.facts.beside is not None
    ]
    proven = [p for p in watched if p.identity]
    whole = [p for p in watched if p.experiment in evidence.whole_programs]
    own = _own_allocators(whole, peers)
    wrong = [
        p
        for p in [*watched, *beside]
        if p.status == "wrong_allocator" or _others(p, peers[p.subject], own)
    ]
    silent = [p for p in watched if not p.identity and p.status == "ok"]
    known = calls_of(evidence).counts
    counts = known.requests if known else {}
    figures = {
        "processes": len(watched) + len(beside),
        "proven": len(proven),
        "wrong": len(wrong),
        "silent": len(silent),
        "own_allocator": sorted(own),
        "calls": counts,
    }
    origins = Origins(peers, watched, beside, proven, wrong, silent, own, counts)
    verdict, detail = _judged(origins, evidence)
    return Check(ID, TITLE, verdict, detail, figures)


@dataclass(frozen=True)
class Origins:
    """What the processes of a run said about the library of their malloc.

    beside: those side by side that said it. Only wrong ones count there: one that failed may have
    ended before it said anything.
    """

    peers: dict[str, Peer]
    watched: list[Process]
    beside: list[Process]
    proven: list[Process]
    wrong: list[Process]
    silent: list[Process]
    own: set[str]
    calls: Mapping[str, int | None]


def _judged(origins: Origins, evidence: Evidence) -> tuple[Verdict, str]:
    """The verdict and its detail: the first that applies."""
    watched, own = origins.watched, origins.own
    if not watched or (not origins.proven and not origins.wrong):
        if origins.peers:
            return "unavailable", "No process wrote down where its malloc comes from."
        return "unavailable", "No subject of this run loads a library."
    if origins.wrong:
        processes = counted(len(watched) + len(origins.beside), "process", "processes")
        found = sorted({_found(p, origins.peers[p.subject], own) for p in origins.wrong})
        return "fail", (
            f"Another malloc than the chosen one was used in {len(origins.wrong)} of {processes}: "
            f"{listed(found)}."
        )
    if origins.silent:
        return "fail", (
            f"{counted(len(origins.silent), 'process', 'processes')} of {len(watched)} did not say "
            f"where malloc came from ({listed(p.subject for p in origins.silent)})."
        )
    if never := [name for name, calls in origins.calls.items() if not calls]:
        return "warn", (
            f"Under {listed(never)} no call of malloc arrived in the process whose calls were "
            "counted."
        )
    differing = _uneven(evidence, origins.proven)
    if missing := [u for u in differing if u.is_missing]:
        return "fail", (
            "Processes that the baseline has did not have the library, or were not started: "
            f"{listed(map(str, missing))}."
        )
    if differing:
        return "warn", (
            "The program does not start as many processes under each allocator: "
            f"{listed(map(str, differing))}."
        )
    if lost := lost_programs(watched):
        return "warn", (
            "Read inside all first processes, and as expected, but not in programs that were "
            f"started without the library: {listed(target for target, _ in lost)}. See V2."
        )
    if own:
        return "warn", (
            f"{listed(sorted(own))}: an allocator of its own, which nothing that is preloaded "
            "replaces. It is in the figures of every row."
        )
    further = sum(sum(record.count for record in p.identity) - 1 for p in origins.proven)
    also = f" and {counted(further, 'process', 'processes')} that they started" if further else ""
    return "pass", (
        "Path and build-id of malloc's library read inside all "
        f"{len(origins.proven)} first processes{also}, and as expected."
    )


def _uneven(evidence: Evidence, processes: list[Process]) -> list[Uneven]:
    """Only whole programs: an experiment of ours is one program, and its subjects start what they
    will."""
    groups: dict[tuple[Setup, str], list[Process]] = {}
    for process in processes:
        if process.experiment in evidence.whole_programs:
            build = evidence.build_of(process.subject)
            groups.setdefault((process.setup, build), []).append(process)
    return [found for group in groups.values() for found in _uneven_in(evidence, group)]


def _uneven_in(evidence: Evidence, processes: list[Process]) -> list[Uneven]:
    if any(p.facts.probe and (p.facts.probe.cut or p.facts.probe.omitted) for p in processes):
        return []  # lines are missing, so their numbers say nothing
    ended = [p for p in processes if p.status == "ok"]
    labels = {*evidence.labels, *calls_of(evidence).references.values()}
    base = [p for p in ended if p.subject in labels]
    return uneven(base, (p for p in ended if p.subject not in labels)) if base else []


def _own_allocators(processes: list[Process], peers: dict[str, Peer]) -> set[str]:
    """The allocators of the executables that the program starts. The runner lets them pass too."""
    return {
        executable
        for p in processes
        if peers[p.subject].kind == "system"
        for executable in own_allocators(p.identity[1:], peers[p.subject])
    }


def _others(process: Process, peer: Peer, own: set[str]) -> list[Identity]:
    """The records of the process in which malloc does not come from ``peer``, except for
    executables that have an allocator of their own."""
    return [
        record
        for record in process.identity
        if record.exe not in own and not same_library(record.malloc, peer)
    ]


def _found(process: Process, peer: Peer, own: set[str]) -> str:
    others = _others(process, peer, own)
    malloc = others[0].malloc if others else None
    path = malloc.path if malloc else "" if others else process.reason
    return f"{process.subject} used {path or 'nothing'}"
