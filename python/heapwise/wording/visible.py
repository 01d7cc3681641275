"""Characters that are not text, written so that a reader sees them."""

from __future__ import annotations

import re

ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that move the cursor, set titles, turn the order of words or cannot be encoded."""


def visible(text: str) -> str:
    """Names and output of measured programs, as text: a terminal would obey an escape sequence, and
    any page would turn the order of words."""
    return ODD.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
