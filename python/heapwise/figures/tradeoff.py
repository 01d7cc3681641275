"""The trade-off map: time or speed against peak memory, relative to the baseline at (1, 1)."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.figures.axis import Axis, is_wide, logarithmic, ratio_label, ratio_ticks
from heapwise.figures.labels import Rectangle, draw_label, place_labels
from heapwise.figures.svg import Drawing, colour, text_width
from heapwise.model import Row

WIDTH, HEIGHT = 760.0, 390.0
FRAME = Rectangle(92, 12, 748, 336)


@dataclass(frozen=True)
class AxisWords:
    """What the axis across is called, and the words at its ends."""

    name: str
    left: str
    right: str

    def title(self) -> str:
        return f"{self.name.capitalize()} against peak memory, relative to the baseline"


TIME, SPEED = AxisWords("time", "faster", "slower"), AxisWords("speed", "slower", "faster")


@dataclass(frozen=True)
class TradeoffPoint:
    """One subject; each axis a ratio with its interval (equal to the ratio where unknown).

    ``time`` is where it stands across: a time, or a speed where the figure says so.
    """

    name: str
    time: tuple[float, float, float]
    memory: tuple[float, float, float]
    baseline: bool = False
    control: bool = False


def points_of(
    time_rows: list[Row], memory_rows: list[Row], controls: set[str]
) -> list[TradeoffPoint]:
    """Subjects that have both ratios, and the baseline."""
    memory = {row.subject: row for row in memory_rows}
    found = []
    for row in time_rows:
        other = memory.get(row.subject)
        if other is None or row.status != "ok":
            continue
        if row.baseline:
            found.append(TradeoffPoint(row.subject, (1, 1, 1), (1, 1, 1), baseline=True))
        elif row.ratio is not None and other.ratio is not None:
            found.append(
                TradeoffPoint(
                    row.subject, _triple(row), _triple(other), control=row.subject in controls
                )
            )
    return found


def _triple(row: Row) -> tuple[float, float, float]:
    ratio = row.ratio or 1.0
    return (row.ratio_low or ratio, ratio, row.ratio_high or ratio)


def draw(
    points: list[TradeoffPoint],
    time_floor: float | None = None,
    memory_floor: float | None = None,
    words: AxisWords = TIME,
) -> str:
    """Down is smaller. Shaded: the noise floor, where nothing can be told."""
    across = logarithmic(
        [1, *(v for p in points for v in p.time), *_around(time_floor)],
        FRAME.left,
        FRAME.right,
        0.12,
    )
    up = logarithmic(
        [1, *(v for p in points for v in p.memory), *_around(memory_floor)],
        FRAME.bottom,
        FRAME.top,
        0.12,
    )
    drawing = Drawing(WIDTH, HEIGHT, words.title(), _description(points, words.name))
    _shade(drawing, across, up, time_floor, memory_floor)
    _grid(drawing, across, up, words)
    crosses = [_cross(drawing, across, up, point, words.name) for point in points]
    _names(drawing, across, up, points, [r for pair in crosses for r in pair])
    return drawing.render("figure tradeoff")


def _around(floor: float | None) -> tuple[float, ...]:
    """Room for the band, but never so much that it dwarfs the points."""
    room = max(0.02, min(floor or 0.0, 0.5))
    return (1 / (1 + room), 1 + room)


def _shade(
    drawing: Drawing, across: Axis, up: Axis, time_floor: float | None, memory_floor: float | None
) -> None:
    if time_floor:
        left = max(FRAME.left, across.place(1 / (1 + time_floor)))
        right = min(FRAME.right, across.place(1 + time_floor))
        drawing.box(left, FRAME.top, right - left, FRAME.bottom - FRAME.top, "band", opacity=0.75)
    if memory_floor:
        top = max(FRAME.top, up.place(1 + memory_floor))
        bottom = min(FRAME.bottom, up.place(1 / (1 + memory_floor)))
        drawing.box(FRAME.left, top, FRAME.right - FRAME.left, bottom - top, "band", opacity=0.75)


def _grid(drawing: Drawing, across: Axis, up: Axis, words: AxisWords) -> None:
    for tick in ratio_ticks(across, 6):
        x, same = across.place(tick), abs(tick - 1) < 1e-9
        drawing.line(
            x,
            FRAME.top,
            x,
            FRAME.bottom,
            "soft" if same else "line",
            stroke_dasharray="3 3" if same else None,
        )
        label = ratio_label(tick, is_wide(across))
        drawing.text(
            min(x, WIDTH - text_width(label, 14) / 2), FRAME.bottom + 18, label, anchor="middle"
        )
    for tick in ratio_ticks(up, 5):
        y, same = up.place(tick), abs(tick - 1) < 1e-9
        drawing.line(
            FRAME.left,
            y,
            FRAME.right,
            y,
            "soft" if same else "line",
            stroke_dasharray="3 3" if same else None,
        )
        drawing.text(FRAME.left - 8, y + 4, ratio_label(tick, is_wide(up)), anchor="end")
    middle = (FRAME.left + FRAME.right) / 2
    drawing.text(
        middle,
        HEIGHT - 8,
        f"← {words.left} · {words.name} · {words.right} →",
        anchor="middle",
        fill="ink",
    )
    drawing.text(
        16,
        (FRAME.top + FRAME.bottom) / 2,
        "← smaller · peak memory · larger →",
        anchor="middle",
        fill="ink",
        transform=f"rotate(-90 16 {(FRAME.top + FRAME.bottom) / 2:.0f})",
    )


def _cross(
    drawing: Drawing, across: Axis, up: Axis, point: TradeoffPoint, name: str
) -> list[Rectangle]:
    x, y = across.place(point.time[1]), up.place(point.memory[1])
    if point.baseline:
        drawing.dot(
            x, y, 6.5, "none", f"{point.name}: the baseline", stroke=colour("ink"), stroke_width=1.8
        )
        drawing.dot(x, y, 2, "ink")
        return []
    paint = "soft" if point.control else "accent"
    left, right = across.place(point.time[0]), across.place(point.time[2])
    top, bottom = up.place(point.memory[2]), up.place(point.memory[0])
    drawing.stroke(left, y, right, y, paint, 2)
    drawing.stroke(x, top, x, bottom, paint, 2)
    drawing.dot(x, y, 4.5, paint, _hint(point, name))
    return [Rectangle(left, y - 2, right, y + 2), Rectangle(x - 2, top, x + 2, bottom)]


def _names(
    drawing: Drawing, across: Axis, up: Axis, points: list[TradeoffPoint], lines: list[Rectangle]
) -> None:
    shown = [p for p in points if not p.control]
    places = [(across.place(p.time[1]), up.place(p.memory[1]), p.name) for p in shown]
    for label in place_labels(places, FRAME, lines, 13):
        draw_label(drawing, label, 13, "ink")


def _hint(point: TradeoffPoint, name: str) -> str:
    time, memory = point.time, point.memory
    return (
        f"{point.name}: {name} x{time[1]:.3f} ({time[0]:.3f} to {time[2]:.3f}), "
        f"peak memory x{memory[1]:.3f} ({memory[0]:.3f} to {memory[2]:.3f})"
    )


def _description(points: list[TradeoffPoint], name: str) -> str:
    return "; ".join(_hint(p, name) for p in points if not p.baseline and not p.control)
