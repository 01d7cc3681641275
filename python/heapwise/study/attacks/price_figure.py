"""Protection over price: the share of attacks that did harm against time on the user's program."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.figures.axis import Axis, is_wide, linear, logarithmic, ratio_label, ratio_ticks
from heapwise.figures.labels import Rectangle, draw_label, place_labels
from heapwise.figures.svg import Drawing

WIDTH, HEIGHT = 760.0, 330.0
FRAME = Rectangle(92, 12, 748, 276)


@dataclass(frozen=True)
class Price:
    """time: ratio to the baseline, low, middle and high; three times 1 for the baseline.
    harm: share of the attacks that corrupted or hung, 0 to 1.
    """

    name: str
    time: tuple[float, float, float]
    harm: float

    def words(self) -> str:
        low, middle, high = self.time
        return (
            f"{self.name}: time x{middle:.3f} ({low:.3f} to {high:.3f}), "
            f"{100 * self.harm:.0f} % of the attacks did harm"
        )


def draw(prices: list[Price], title: str) -> str:
    """Requires: at least one. Left is faster, down is safer."""
    across = logarithmic(
        [1, *(v for price in prices for v in price.time)], FRAME.left, FRAME.right, 0.12
    )
    up = linear([0, *(price.harm for price in prices)], FRAME.bottom, FRAME.top, 0.1)
    drawing = Drawing(WIDTH, HEIGHT, title, "; ".join(price.words() for price in prices))
    _grid(drawing, across, up)
    for price in prices:
        y = up.place(price.harm)
        drawing.stroke(across.place(price.time[0]), y, across.place(price.time[2]), y, "accent", 2)
        drawing.dot(across.place(price.time[1]), y, 4.5, "accent", price.words())
    places = [(across.place(price.time[1]), up.place(price.harm), price.name) for price in prices]
    for label in place_labels(places, FRAME, [], 13):
        draw_label(drawing, label, 13, "ink")
    return drawing.render("figure protection")


def _grid(drawing: Drawing, across: Axis, up: Axis) -> None:
    for tick in ratio_ticks(across, 6):
        x = across.place(tick)
        drawing.line(x, FRAME.top, x, FRAME.bottom)
        drawing.text(x, FRAME.bottom + 18, ratio_label(tick, is_wide(across)), anchor="middle")
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        if up.holds(tick):
            y = up.place(tick)
            drawing.line(FRAME.left, y, FRAME.right, y)
            drawing.text(FRAME.left - 8, y + 4, f"{100 * tick:.0f} %", anchor="end")
    middle = (FRAME.left + FRAME.right) / 2
    drawing.text(middle, HEIGHT - 8, "← faster · time · slower →", anchor="middle", fill="ink")
    height = (FRAME.top + FRAME.bottom) / 2
    drawing.text(
        16,
        height,
        "← safer · attacks that did harm →",
        anchor="middle",
        fill="ink",
        transform=f"rotate(-90 16 {height:.0f})",
    )
