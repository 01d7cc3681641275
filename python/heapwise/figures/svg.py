"""Writing SVG by hand: elements, escaped text, one look for all figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from itertools import pairwise
from typing import Any

COLOURS = {
    "ink": "#1c1b1a",
    "soft": "#6f6a63",
    "line": "#d9d4cc",
    "accent": "#0b6e4f",
    "band": "#e9e2d2",
    "paper": "#ffffff",
    "worse": "#b5442e",
}
PALETTE = (
    "#0b6e4f",
    "#b5442e",
    "#2f5d9b",
    "#8f5f00",
    "#7a3e8e",
    "#1f7474",
    "#8a5a44",
    "#5b6470",
    "#ab3f73",
    "#5a6c16",
    "#3f3fa8",
    "#8c2f39",
)
"""For lines of many subjects, told apart by their labels first and by these second."""

SIZE = 12
"""The size of text, where no other is given."""

CHARACTER = 0.56
"""Mean width of a character of the page's font, in units of its size: enough to place labels."""


def colour(name: str) -> str:
    """The page's variable; ``plain_colours`` replaces it in a figure that stands alone."""
    return f"var(--{name})"


def series_colour(place: int) -> str:
    return f"var(--series-{place % len(PALETTE)})"


def plain_colours(drawn: str) -> str:
    """The figure without the variables of a page."""
    plain = COLOURS | {f"series-{place}": paint for place, paint in enumerate(PALETTE)}
    return re.sub(r"var\(--([\w-]+)\)", lambda found: plain[found[1]], drawn)


def text_width(words: str, size: float) -> float:
    return len(words) * size * CHARACTER


def dots_path(places: Iterable[tuple[float, float]]) -> str:
    """Lines without a length, whose round ends are dots. Dots on the same place are one dot.

    Column by column or line by line, whichever has the shorter steps.
    """
    dots = {(round(10 * x), round(10 * y)) for x, y in places}
    return min(_steps(sorted(dots)), _steps(sorted(dots, key=lambda dot: dot[::-1])), key=len)


def _steps(dots: list[tuple[int, int]]) -> str:
    steps = []
    for (x0, y0), (x, y) in pairwise([(0, 0), *dots]):
        steps.append(f"m{_tenths(x - x0)}{_joined(_tenths(y - y0))}h0")
    return "".join(steps)


class Drawing:
    """An SVG that grows by elements; ``title`` and ``description`` are for screen readers."""

    def __init__(self, width: float, height: float, title: str, description: str = "") -> None:
        self.width, self.height = width, height
        self._title, self._description = title, description
        self._parts: list[str] = []

    def add(self, tag: str, content: str = "", hint: str = "", **attributes: Any) -> None:
        """``hint`` becomes a tooltip; ``class_`` and ``stroke_width`` lose their underscores."""
        written = " ".join(
            f'{name.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
            for name, value in attributes.items()
            if value is not None
        )
        inner = (f"<title>{escape(hint)}</title>" if hint else "") + content
        self._parts.append(f"<{tag} {written}>{inner}</{tag}>" if inner else f"<{tag} {written}/>")

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        stroke: str = "line",
        width: float = 1,
        **more: Any,
    ) -> None:
        self.add(
            "line",
            x1=x1,
            y1=y1,
            x2=x2,
            y2=y2,
            stroke=_paint(stroke),
            stroke_width=None if width == 1 else width,
            **more,
        )

    def stroke(self, x1: float, y1: float, x2: float, y2: float, paint: str, width: float) -> None:
        """A line with round ends, as of an interval."""
        self.line(x1, y1, x2, y2, paint, width, stroke_linecap="round")

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = SIZE,
        anchor: str = "start",
        fill: str = "soft",
        **more: Any,
    ) -> None:
        self.add(
            "text",
            escape(words),
            x=x,
            y=y,
            font_size=None if size == SIZE else size,
            text_anchor=None if anchor == "start" else anchor,
            fill=_paint(fill),
            **more,
        )

    def dot(
        self, x: float, y: float, radius: float, fill: str, hint: str = "", **more: Any
    ) -> None:
        self.add("circle", "", hint, cx=x, cy=y, r=radius, fill=_paint(fill), **more)

    def dots(
        self,
        places: Iterable[tuple[float, float]],
        radius: float,
        fill: str,
        hint: str = "",
        **more: Any,
    ) -> None:
        """Many dots of one kind as one element, see ``dots_path``; ``hint`` is that of all."""
        if steps := dots_path(places):
            self.add(
                "path",
                "",
                hint,
                d=steps,
                fill="none",
                stroke=_paint(fill),
                stroke_width=2 * radius,
                stroke_linecap="round",
                **more,
            )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str,
        hint: str = "",
        **more: Any,
    ) -> None:
        self.add(
            "rect",
            "",
            hint,
            x=x,
            y=y,
            width=max(0.0, width),
            height=max(0.0, height),
            fill=_paint(fill),
            **more,
        )

    def render(self, class_: str = "figure") -> str:
        label = f"{self._title}. {self._description}".strip(". ")
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{class_}" role="img" '
            f'aria-label="{escape(label)}" viewBox="0 0 {_short(self.width)} '
            f'{_short(self.height)}" font-size="{SIZE}">'
        )
        return "".join([head, *self._parts, "</svg>"])


def _paint(name: str) -> str:
    return colour(name) if name in COLOURS else name


def _tenths(tenths: int) -> str:
    """``-3`` -> ``-.3``: as short as a path allows."""
    whole, rest = divmod(abs(tenths), 10)
    sign = "-" if tenths < 0 else ""
    return f"{sign}{whole or ''}.{rest}" if rest else f"{sign}{whole}"


def _joined(number: str) -> str:
    """A second number of a path needs a space only if it does not begin with a sign."""
    return number if number.startswith("-") else f" {number}"


def _short(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.{1 if abs(value) >= 10 else 2}f}".rstrip("0").rstrip(".")
