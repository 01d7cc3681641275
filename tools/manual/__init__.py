"""Pages of the manual (man 1) of every verb, made from the command line itself."""

from __future__ import annotations

from manual.page import Page, pages

__all__ = ["Page", "pages"]
