"""What an attack came to, in one or two words."""

from __future__ import annotations

from heapwise.model import Fate

LEGEND = (
    "stopped: a signal ended the process during the attack. stopped after N, or later: it ended "
    "N calls of malloc and free after the attack. harmless: neither a stop nor an effect. "
    "CORRUPTS: the effect of the attack was seen, with the share of the attempts if not all. "
    "hangs: the process did not end. mixed: the attempts ended in several ways, none of which "
    "corrupts. ALARM: legal use was stopped too."
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


def fate_word(fate: Fate) -> str:
    """The same where there is little room: ``CORRUPTS 33%``, ``stopped``, ``mixed``."""
    if fate.corrupted > 0:
        return "CORRUPTS" if fate.corrupted == 1 else f"CORRUPTS {100 * fate.corrupted:.0f}%"
    ways = (
        (fate.at_once, "stopped"),
        (fate.later, "later"),
        (fate.hung, "hangs"),
        (fate.harmless, "harmless"),
    )
    return next((word for share, word in ways if share == 1), "mixed")
