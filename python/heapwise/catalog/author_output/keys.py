"""The keys of a report's file that say where the output of the author's program has a figure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from heapwise.model import AuthorFigure

PLACEHOLDER = re.compile(r"\{(\w+)\}")


def author_figure(
    keys: Mapping[str, str | float], words: Mapping[str, object]
) -> AuthorFigure | None:
    """None if the report does not say which column has the figure. ValueError for a wrong key.
    words: what stands for ``{title}``, ``{note}`` and ``{PARAMETER}`` in a text."""
    columns = dict(keys)
    value, scale = columns.pop("value", ""), columns.pop("scale", 1.0)
    if not value:
        return None
    if not isinstance(value, str) or not isinstance(scale, int | float) or scale <= 0:
        raise ValueError("author: value is the name of a column, and scale a number above 0")
    texts = {
        column: PLACEHOLDER.sub(lambda found: str(words.get(found[1], found[0])), str(text))
        for column, text in columns.items()
    }
    return AuthorFigure(value, texts, float(scale))
