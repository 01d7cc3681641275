"""Whether runs that are shown as one are of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heapwise.errors import Problem

if TYPE_CHECKING:
    from heapwise.evidence import Evidence


def demand_one_machine(runs: Sequence[Evidence]) -> None:
    """Problem E003 if they are not of one kind of processor, with as many of them."""
    from heapwise.report import folder_of

    kinds = {folder_of(each.stored.run.machine): each.stored.run.id for each in runs}
    if len(kinds) > 1:
        raise Problem(
            "E003",
            f"runs {' and '.join(kinds.values())} are of different machines: {', '.join(kinds)}",
            do="name runs of one machine",
        )
