"""What lived when most bytes lived, and what lives at the end, by call site."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class PeakSites:
    """bytes, blocks: of all sites at the peak. time: of the peak, in units of the trace. then, now:
    (blocks, bytes) by the number of the call site, at the peak and at the end."""

    bytes: int = 0
    blocks: int = 0
    time: int = 0
    then: dict[int, tuple[int, int]] = field(default_factory=dict)
    now: dict[int, tuple[int, int]] = field(default_factory=dict)

    def at_peak(self, site: int) -> tuple[int, int]:
        """(blocks, bytes) of a call site when most bytes lived."""
        return self.then.get(site, (0, 0))

    def at_end(self, site: int) -> tuple[int, int]:
        """(blocks, bytes) of a call site that nobody freed in the trace."""
        return self.now.get(site, (0, 0))
