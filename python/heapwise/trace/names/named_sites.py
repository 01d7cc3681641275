"""The call sites of a trace under the names that its reader knows: wrappers are skipped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from heapwise.trace.columns import Numbers
from heapwise.trace.contents import BUCKETS, Contents
from heapwise.trace.names.call_stacks import CallStack
from heapwise.trace.names.symbols import Place
from heapwise.trace.names.wrappers import Wrappers


@dataclass
class NamedSite:
    """The blocks of the first place of their stacks that is not a wrapper.

    wrappers: names that were skipped. estimated: a wrapper has other callers, too, and its blocks
    are shared out between them by the stacks that were sampled. lifetimes, ended, own_thread: of
    all blocks of the call sites behind it, also of those that other callers got by a wrapper.
    """

    place: Place | None
    blocks: int = 0
    bytes: int = 0
    peak_blocks: int = 0
    peak_bytes: int = 0
    end_blocks: int = 0
    end_bytes: int = 0
    smallest: int = 1 << 62
    largest: int = 0
    ended: int = 0
    own_thread: int = 0
    estimated: bool = False
    wrappers: tuple[str, ...] = ()
    lifetimes: Numbers = field(default_factory=lambda: np.zeros(BUCKETS, np.uint64))


def named_sites(
    found: Contents, stacks: Sequence[CallStack], wrappers: Wrappers
) -> list[NamedSite]:
    """Most bytes first. Their blocks and bytes are those of the trace."""
    by_name: dict[tuple[str, str, str, int], NamedSite] = {}
    parts: dict[int, set[tuple[str, str, str, int]]] = defaultdict(set)
    for stack in stacks:
        inner = stack.places[::-1]
        skipped = wrappers.beyond(inner)
        place = inner[skipped] if inner else None
        site = by_name.setdefault(_key(place), NamedSite(place))
        site.blocks += stack.blocks
        site.bytes += stack.bytes
        site.peak_blocks += stack.peak_blocks
        site.peak_bytes += stack.peak_bytes
        site.end_blocks += stack.end_blocks
        site.end_bytes += stack.end_bytes
        names = (each.name for each in inner[:skipped])
        site.wrappers = tuple(dict.fromkeys((*site.wrappers, *names)))
        parts[stack.site].add(_key(place))
    for number, keys in parts.items():
        for key in keys:
            _join(by_name[key], found, number, len(keys) > 1)
    return sorted(by_name.values(), key=lambda site: (-site.bytes, -site.blocks))


def _join(site: NamedSite, found: Contents, number: int, shared: bool) -> None:
    source = found.sites[number]
    site.estimated |= shared
    site.smallest = min(site.smallest, source.smallest)
    site.largest = max(site.largest, source.largest)
    site.ended += source.ended
    site.own_thread += source.own_thread
    site.lifetimes += source.lifetimes


def _key(place: Place | None) -> tuple[str, str, str, int]:
    """Places of one function and line are one, wherever in it the calls stand."""
    if place is None:
        return "", "", "", -1
    if place.line:
        return place.module, place.function, place.line, 0
    return place.module, place.function, "", place.offset
