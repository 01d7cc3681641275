"""The items of the catalogue, and the programs that ask for them."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.observe import Sight

PROGRAMS: Mapping[str, tuple[int, ...]] = {
    "sizes": (1, 2, 3, 4),
    "resizing": (5, 6, 7, 8, 9),
    "aligned": (10, 11, 12, 13),
    "freeing": (14, 15, 16),
    "operators": (17,),
    "interposition": (18,),
    "resolver": (19,),
    "lifetime": (19,),
    "control": (20,),
    "model": (22,),
}
"""21 is all others, compiled in every way."""

SLOW = ("model",)
"""Run in the usual variant alone."""

ITEMS = tuple(f"B1-{number}" for number in sorted(set().union(*PROGRAMS.values())))


def programs_of(item: str) -> list[str]:
    """Those that have to answer for an item."""
    number = int(item.removeprefix("B1-"))
    return [program for program, numbers in PROGRAMS.items() if number in numbers]


def broken(item: str, sights: Mapping[str, Sight], *, by_peer: bool = False) -> list[str]:
    """A sentence for each promise of the item that is not kept.

    ``by_peer``: of an allocator that never promised what is stricter than the C library.
    """
    found = []
    for program in programs_of(item):
        sight = sights[program]
        for row in sight.of(item):
            if not row.holds and not (by_peer and row.why):
                found.append(f"{row.what}: {row.value}, promised is {row.required}")
        if not sight.is_done(item):
            found.append(f"{program} did not come to the end of {item}: {sight.trouble}")
    return found
