"""Which rows of the binary trees are here, language by language, and how to get the others."""

from __future__ import annotations

from collections.abc import Iterator

from heapwise.catalog import TREES, read_trees, subject_specs
from heapwise.model import SubjectSpec


def tree_states() -> Iterator[tuple[str, str, list[SubjectSpec], dict[str, str]]]:
    """Language, its version, its rows that are here, and the others with how to get them."""
    for programs in read_trees():
        specs = [spec for _, spec in subject_specs(programs)]
        here = [spec for spec in specs if spec.available]
        missing = {spec.name: spec.reason for spec in specs if not spec.available}
        yield f"{TREES}/{programs.name}", here[0].version if here else "", here, missing


def tree_lines(width: int) -> Iterator[str]:
    """A line for the rows that are here, and one for each way to get others."""
    for name, version, here, missing in tree_states():
        if here:
            rows = ", ".join(spec.name for spec in here)
            yield f"{name:<{width}} {version or 'as it is'}: {rows}"
        for way in dict.fromkeys(missing.values()):
            rows = ", ".join(row for row, reason in missing.items() if reason == way)
            yield f"{name:<{width}} missing     ->  {way}   ({rows})"
