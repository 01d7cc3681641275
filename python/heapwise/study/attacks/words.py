"""What an attack came to, in one or two words."""

from __future__ import annotations

from heapwise.model import Fate

LEGEND = (
    "stopped: a signal ended the process in the deed or, after that many calls of malloc and "
    "free, later. harmless: neither a stop nor an effect. CORRUPTS: the attack's effect was "
    "seen, with the share of the attempts if not all. ALARM: legal use was stopped too."
)


def fate_words(fate: Fate) -> str:
    """The worst first: ``CORRUPTS 33%, stopped``."""
    parts = [
        (fate.corrupted, "CORRUPTS"),
        (fate.hung, "hangs"),
        (fate.at_once, "stopped"),
        (fate.later, f"stopped after {fate.calls:.0f}"),
        (fate.harmless, "harmless"),
    ]
    present = [(share, word) for share, word in parts if share > 1e-9]
    if len(present) == 1:
        words = present[0][1]
    else:
        (share, worst), *others = present
        words = f"{worst} {100 * share:.0f}%, {', '.join(word for _, word in others)}"
    return f"{words}, ALARM" if fate.alarms > 0 else words
