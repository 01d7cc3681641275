"""What ``heapwise trace --json`` prints of a profile: estimates, with their intervals."""

from __future__ import annotations

from math import isnan
from typing import Any

import msgspec

from heapwise.trace.document import SourcePlace, source_place
from heapwise.trace.file import Summary, Trace
from heapwise.trace.profile import CONFIDENCE, Estimate, Samples
from heapwise.trace.symbols import Symbols

LIFETIME_ORDERS = (0.1, 0.5, 0.9, 0.99)
"""Of the lifetimes: their quantiles."""


class LifetimeQuantile(msgspec.Struct, frozen=True):
    """estimate: in nanoseconds; None if no sampled block was freed."""

    order: float
    estimate: Estimate | None


class ProfileSite(msgspec.Struct, frozen=True):
    """A call site, or all of them. share_handed_over: of the freed blocks."""

    place: SourcePlace | None
    samples: int
    blocks: Estimate
    bytes: Estimate
    live_bytes: Estimate
    ended_samples: int
    share_handed_over: Estimate | None
    lifetime_ns: list[LifetimeQuantile]


class ProfileDocument(msgspec.Struct, frozen=True):
    """A profile of ``record --profile``. sample_every: bytes from one sample to the next."""

    about: dict[str, Any]
    summary: Summary | None
    damage: str
    sample_every: int
    confidence: float
    all: ProfileSite
    sites: list[ProfileSite]
    kind: str = "profile"


def profile_document(trace: Trace, found: Samples, symbols: Symbols) -> ProfileDocument:
    """The sites with most samples first."""
    symbols.learn(address for number in found.site.tolist()
                  if (address := trace.site_address(number)) is not None)
    unit = trace.ns_a_unit
    return ProfileDocument(
        trace.about, trace.summary, trace.damage, trace.sample_every, CONFIDENCE,
        _estimates(None, found, unit),
        [_estimates(_place(trace, symbols, number), site, unit)
         for number, site in sorted(found.by_site(), key=lambda item: -len(item[1]))])


def _place(trace: Trace, symbols: Symbols, number: int) -> SourcePlace:
    address = trace.site_address(number)
    return source_place(symbols.place(address) if address is not None else None)


def _estimates(place: SourcePlace | None, found: Samples, unit: float) -> ProfileSite:
    return ProfileSite(
        place, len(found), found.blocks(), found.bytes(), found.live_bytes(),
        int(found.ended.sum()), _known(found.share_handed_over(), 1.0),
        [LifetimeQuantile(order, _known(each, unit)) for order, each in
         zip(LIFETIME_ORDERS, found.lifetime_quantiles(LIFETIME_ORDERS), strict=True)])


def _known(estimate: Estimate, unit: float) -> Estimate | None:
    if isnan(estimate.value):
        return None
    return Estimate(estimate.value * unit, estimate.low * unit, estimate.high * unit)
