"""What ``heapwise trace --json`` prints of a profile: estimates, with their intervals."""

from __future__ import annotations

from math import isnan
from typing import Any

import msgspec

from heapwise.trace.document import SourcePlace, source_place
from heapwise.trace.file import Trace
from heapwise.trace.names.symbols import Symbols, module_notes
from heapwise.trace.profile import CONFIDENCE, Estimate, Samples
from heapwise.trace.recording_texts import Summary

LIFETIME_ORDERS = (0.1, 0.5, 0.9, 0.99)
"""The orders of the lifetimes: their quantiles."""


class LifetimeQuantile(msgspec.Struct, frozen=True):
    """estimate: in nanoseconds; None if no sampled block was freed."""

    order: float
    estimate: Estimate | None


class ProfileSite(msgspec.Struct, frozen=True):
    """A return address of sampled allocations. share_handed_over: of the freed blocks."""

    module: str | None
    function: str | None
    line: str | None
    offset: int | None
    samples: int
    blocks: Estimate
    bytes: Estimate
    live_bytes: Estimate
    ended_samples: int
    share_handed_over: Estimate | None
    lifetime_ns: list[LifetimeQuantile]


class ProfileDocument(msgspec.Struct, frozen=True):
    """A profile of ``record --profile``. sample_every: bytes from one sample to the next. builds:
    sentences on files that are not the recorded ones any more."""

    about: dict[str, Any]
    summary: Summary | None
    damage: str
    sample_every: int
    confidence: float
    samples: int
    blocks: Estimate
    bytes: Estimate
    live_bytes: Estimate
    ended_samples: int
    share_handed_over: Estimate | None
    lifetime_ns: list[LifetimeQuantile]
    sites: list[ProfileSite]
    builds: list[str] = []
    kind: str = "profile"


def profile_document(trace: Trace, found: Samples, symbols: Symbols) -> ProfileDocument:
    """The sites with most samples first."""
    symbols.learn(
        address
        for number in found.site.tolist()
        if (address := trace.site_address(number)) is not None
    )
    unit = trace.ns_a_unit
    sites = []
    for number, samples in sorted(found.by_site(), key=lambda item: -len(item[1])):
        place = _place(trace, symbols, number)
        sites.append(
            ProfileSite(
                place.module, place.function, place.line, place.offset, *_estimates(samples, unit)
            )
        )
    return ProfileDocument(
        trace.about,
        trace.summary,
        trace.damage,
        trace.sample_every,
        CONFIDENCE,
        *_estimates(found, unit),
        sites,
        builds=module_notes(trace),
    )


def _place(trace: Trace, symbols: Symbols, number: int) -> SourcePlace:
    address = trace.site_address(number)
    return source_place(symbols.place(address) if address is not None else None)


Estimates = tuple[int, Estimate, Estimate, Estimate, int, Estimate | None, list[LifetimeQuantile]]


def _estimates(found: Samples, unit: float) -> Estimates:
    """In the order of the fields of both classes."""
    return (
        len(found),
        found.blocks(),
        found.bytes(),
        found.live_bytes(),
        int(found.ended.sum()),
        _known(found.share_handed_over(), 1.0),
        [
            LifetimeQuantile(order, _known(each, unit))
            for order, each in zip(
                LIFETIME_ORDERS, found.lifetime_quantiles(LIFETIME_ORDERS), strict=True
            )
        ],
    )


def _known(estimate: Estimate, unit: float) -> Estimate | None:
    if isnan(estimate.value):
        return None
    return Estimate(estimate.value * unit, estimate.low * unit, estimate.high * unit)
