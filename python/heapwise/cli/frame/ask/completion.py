"""What a shell proposes while an argument is typed: runs, experiments, allocators, reports.

The functions are called by typer, with the beginning of the word. A proposal never fails: without a
store or native parts there is none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from heapwise.errors import Problem

Proposals = list[tuple[str, str]]
"""Words, each with a few words of explanation for the shells that show them."""


def runs(incomplete: str) -> Proposals:
    """The runs of the store, the newest first, and ``last``."""
    return _matching(incomplete, _runs)


def experiments(incomplete: str) -> Proposals:
    """Ids of experiments, and their families."""
    return _matching(incomplete, _experiments)


def reports(incomplete: str) -> Proposals:
    """Published reports that can be measured again."""
    return _matching(incomplete, _reports)


def peers(incomplete: str) -> Proposals:
    """Allocators of the list, installed or not."""
    return _matching(incomplete, _peers)


def buildable_peers(incomplete: str) -> Proposals:
    """What ``heapwise peers add`` can build."""
    return _matching(incomplete, _buildable)


def explained_ids(incomplete: str) -> Proposals:
    """Ids of errors and experiments."""
    return _matching(incomplete, _errors) + _matching(incomplete, _experiments)


def _matching(incomplete: str, source: Callable[[], Iterable[tuple[str, str]]]) -> Proposals:
    try:
        return [(word, text) for word, text in source() if word.startswith(incomplete)]
    except (Problem, OSError):
        return []


def _runs() -> Iterable[tuple[str, str]]:
    from heapwise.store import find_store, list_runs

    yield "last", "the newest run"
    for listing in reversed(list_runs(find_store(os.environ.get("HEAPWISE_STORE")))):
        if not listing.problem:
            yield (
                listing.id,
                " ".join([listing.created[:10], *(listing.command or listing.experiments)][:3]),
            )


def _experiments() -> Iterable[tuple[str, str]]:
    from heapwise.catalog import find_experiments

    found = find_experiments()
    for family in dict.fromkeys(experiment.id.partition("/")[0] for experiment in found):
        yield family, "all of this family"
    for experiment in found:
        yield experiment.id, experiment.question


def _reports() -> Iterable[tuple[str, str]]:
    from heapwise.catalog import find_published

    return [(report.name, report.title) for report in find_published()[0]]


def _peers() -> Iterable[tuple[str, str]]:
    from heapwise.catalog import find_peers

    return [
        (peer.name, "installed" if peer.path is not None else "not installed")
        for peer in find_peers()
    ]


def _buildable() -> Iterable[tuple[str, str]]:
    from heapwise.builder import choose_buildable, choose_trees

    yield "all", "every peer that can be built"
    yield "trees", "every language of the binary trees"
    yield "programs", "the Python packages of heap/rl_programs"
    for peer in choose_buildable("all"):
        yield peer.name, "a peer"
    for language in choose_trees("trees"):
        yield f"trees/{language.name}", "a language of the binary trees"


def _errors() -> Iterable[tuple[str, str]]:
    from heapwise.errors import CATALOGUE

    return [(entry.id, entry.title) for entry in CATALOGUE.values()]
