"""``--relink`` where nothing can be linked."""

from __future__ import annotations

from heapwise.errors import Problem


def only_programs(what: str) -> Problem:
    """what: was given instead of sources."""
    return Problem(
        "E003",
        f"--relink links builds again, and {what}",
        why="The layout of a program is decided when it is linked.",
        do="heapwise gate --base-commit main --build-command make --relink 12 --new ./app "
        "--limit time=3%",
    )
