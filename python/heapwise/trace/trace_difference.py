"""Two traces beside each other: what each call site asked for in the second, and in the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from heapwise.trace.names.call_stacks import CallStack
from heapwise.trace.names.named_sites import NamedSite
from heapwise.trace.names.symbols import Place


class Amount(msgspec.Struct, frozen=True):
    """What one call site made, or a whole trace. peak_bytes: that lived when most bytes lived.
    end_bytes: that nobody freed."""

    blocks: int = 0
    bytes: int = 0
    peak_bytes: int = 0
    end_bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.blocks + other.blocks,
            self.bytes + other.bytes,
            self.peak_bytes + other.peak_bytes,
            self.end_bytes + other.end_bytes,
        )


class SiteDifference(msgspec.Struct, frozen=True):
    """function: or the file and the offset. line: in the second trace, if it has the call site, of
    the one place in the function that asked for something else than before; "" if there are
    several. estimated: in one trace, wrappers with several callers share out the figures."""

    module: str
    function: str
    line: str
    first: Amount
    second: Amount
    estimated: bool = False

    @property
    def name(self) -> str:
        return f"{self.function} ({self.line})" if self.line else self.function

    @property
    def grown(self) -> Amount:
        """The second less the first."""
        one, other = self.first, self.second
        return Amount(
            other.blocks - one.blocks,
            other.bytes - one.bytes,
            other.peak_bytes - one.peak_bytes,
            other.end_bytes - one.end_bytes,
        )


class TraceDifference(msgspec.Struct, frozen=True):
    """sites: those with the largest difference in bytes first; equal ones are left out."""

    first: str
    second: str
    whole: SiteDifference
    sites: list[SiteDifference]
    kind: str = "trace_difference"


def trace_difference(
    names: tuple[str, str],
    first: Sequence[NamedSite],
    second: Sequence[NamedSite],
    programs: tuple[str, str] = ("", ""),
) -> TraceDifference:
    """Call sites are of one function in one file: its lines move from build to build. programs:
    the files of the recorded programs, which may be two builds under two names."""
    name = Path(programs[1]).name
    before, after = (
        _by_function(sites, {program: name} if program else {})
        for sites, program in zip((first, second), programs, strict=True)
    )
    sites = [_site(key, before.get(key, []), after.get(key, [])) for key in {**after, **before}]
    whole = _site(("", "all call sites"), first, second)
    changed = [site for site in sites if site.first != site.second]
    changed.sort(key=lambda site: (-abs(site.grown.bytes), -abs(site.grown.blocks), site.name))
    return TraceDifference(*names, whole, changed)


def folded_difference(first: Sequence[CallStack], second: Sequence[CallStack]) -> bytes:
    """``frames before after``, a line for each stack, as flamegraph.pl draws a differential flame
    graph. Weighted by the bytes that were asked for."""
    before, after = _by_stack(first), _by_stack(second)
    lines = [f"{names} {before[names]} {after[names]}\n" for names in {**before, **after}]
    return "".join(lines).encode(errors="replace")


def _by_function(
    sites: Iterable[NamedSite], names: Mapping[str, str]
) -> dict[tuple[str, str], list[NamedSite]]:
    """names: of files that have another name here."""
    found: dict[tuple[str, str], list[NamedSite]] = {}
    for site in sites:
        found.setdefault(_key(site.place, names), []).append(site)
    return found


def _key(place: Place | None, names: Mapping[str, str]) -> tuple[str, str]:
    if place is None:
        return "", "unknown"
    return names.get(place.module) or Path(place.module).name, place.name


def _site(
    key: tuple[str, str], first: Sequence[NamedSite], second: Sequence[NamedSite]
) -> SiteDifference:
    sites = _changed(first, second) or second or first
    lines = {site.place.line for site in sites if site.place and key[0]}
    return SiteDifference(
        *key,
        lines.pop() if len(lines) == 1 else "",
        _amount(first),
        _amount(second),
        any(site.estimated for site in (*first, *second)),
    )


def _changed(first: Sequence[NamedSite], second: Sequence[NamedSite]) -> list[NamedSite]:
    """Those of the second trace that asked for something else than each one of the first."""
    left = Counter(_amount([site]) for site in first)
    changed: list[NamedSite] = []
    for site in second:
        amount = _amount([site])
        if left[amount]:
            left[amount] -= 1
        else:
            changed.append(site)
    return changed


def _amount(sites: Iterable[NamedSite]) -> Amount:
    parts = (Amount(site.blocks, site.bytes, site.peak_bytes, site.end_bytes) for site in sites)
    return sum(parts, Amount())


def _by_stack(stacks: Iterable[CallStack]) -> Counter[str]:
    found: Counter[str] = Counter()
    for stack in stacks:
        # A semicolon separates frames, so it cannot be in a name.
        names = [place.name.replace(";", ":") for place in stack.places] or ["unknown"]
        found[";".join(names)] += stack.bytes
    return found
