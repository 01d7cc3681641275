"""What keeps a kernel from being booted here."""

from __future__ import annotations


class Unavailable(Exception):
    """Something that is needed is not here, and could not be had. The text says what."""
