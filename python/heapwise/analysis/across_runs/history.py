"""What each figure was in run after run, and where it changed its level."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from heapwise.analysis.across_runs.relative_points import relative_points
from heapwise.model import Setting
from heapwise.model.peak_reach import unlike_peaks
from heapwise.stats.series.change_points import change_points
from heapwise.store import Point, RunPoints
from heapwise.wording.metrics import OF_COUNTS

SHORT = 10
"""Figures of a hash that people read."""

LEAST_CHANGE = 0.01
"""Relative. Smaller changes are not news on any machine that is shared."""


@dataclass(frozen=True)
class Key:
    """What the values of one series have in common. machine: with its host if several runs have
    that one. place: the repository, or the folder, in which the command was typed."""

    machine: str
    place: str
    command: str
    subject: str
    parameters: tuple[tuple[str, Setting], ...]
    quantity: str
    baseline: str = ""
    """The subject of the same run to which the values are relative; "" if they are not."""


@dataclass(frozen=True)
class Moment:
    """One run in a series. when: of the commit if it is known, else of the run."""

    run: str
    when: str
    value: float
    commit: str = ""
    dirty: bool = False


@dataclass(frozen=True)
class Seam:
    """Between place - 1 and ``place`` something other than the program changed, so the values on
    both sides are not compared."""

    place: int
    why: str


@dataclass(frozen=True)
class Change:
    """A change of level at ``place``. change, low, high: relative, with an interval of 95 %; None
    if the level before was 0. An exact count has no interval. after_commit: the last commit before
    it, ``commit`` the first after; "" if they are not known. gone: the place from which the level
    is nearer to the old one again, None if it stayed.
    """

    place: int
    before: float
    after: float
    change: float | None
    low: float | None
    high: float | None
    p_value: float
    better: bool
    after_commit: str
    commit: str
    gone: int | None = None


@dataclass(frozen=True)
class MetricHistory:
    """The values of one figure, in the order of the commits."""

    key: Key
    unit: str
    better: str
    moments: list[Moment]
    seams: list[Seam] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


def series_of(
    runs: Iterable[RunPoints],
    metrics: Collection[str] = (),
    since: str = "",
    least_change: float = LEAST_CHANGE,
    *,
    relative: bool = False,
) -> list[MetricHistory]:
    """Every series, smoke runs left out. metrics: only these quantities, if any are named. since:
    only what is of that time (ISO 8601) or later. relative: to the baseline of the same run."""
    found: dict[Key, list[tuple[RunPoints, Point]]] = defaultdict(list)
    runs = [relative_points(run) for run in runs] if relative else list(runs)
    hosts = Counter((run.machine, run.host) for run in runs)
    for run in runs:
        if run.smoke or (since and _instant(_when(run)) < _instant(since)):
            continue
        for point in run.points:
            if not metrics or point.quantity in metrics:
                found[_key(point, _machine(run, hosts), point.baseline if relative else "")].append(
                    (run, point)
                )
    return [
        _series(key, seen, least_change)
        for key, seen in sorted(found.items(), key=lambda item: repr(item[0]))
    ]


def _key(point: Point, machine: str, baseline: str) -> Key:
    return Key(
        machine,
        point.place,
        point.command,
        point.subject,
        tuple(sorted(point.parameters.items())),
        point.quantity,
        baseline,
    )


def _machine(run: RunPoints, hosts: Counter[tuple[str, str]]) -> str:
    """A host name that no other run has is that of a container, and names no machine: runs on such
    hosts are of one machine if its hardware is the same."""
    known = run.host if hosts[run.machine, run.host] > 1 else ""
    return ", ".join(filter(None, (known, run.machine)))


def _when(run: RunPoints) -> str:
    """Changed sources are newer than their commit."""
    return run.revision.committed if run.revision and not run.revision.dirty else run.created


def _instant(text: str) -> float:
    """Returns 0 for text that is not a time."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def _series(key: Key, seen: list[tuple[RunPoints, Point]], least_change: float) -> MetricHistory:
    seen = sorted(seen, key=lambda pair: (_instant(_when(pair[0])), _instant(pair[0].created)))
    moments = [
        Moment(
            run.run,
            _when(run),
            point.value,
            run.revision.commit if run.revision else "",
            run.revision.dirty if run.revision else False,
        )
        for run, point in seen
    ]
    seams = _seams(seen)
    first = seen[0][1]
    changes: list[Change] = []
    find = _steps if key.quantity in OF_COUNTS and _is_exact(moments) else _changes
    bounds = [0, *(seam.place for seam in seams), len(seen)]
    for begin, end in itertools.pairwise(bounds):
        changes += find(moments, begin, end, first.better, least_change)
    return MetricHistory(key, first.unit, first.better, moments, seams, changes)


def _is_exact(moments: Sequence[Moment]) -> bool:
    """Whether a count repeats from run to run, so that chance has no part in it: more than half of
    the runs have the count of the one before, and no count comes back after another one. A program
    that asks for a little more in some runs goes back and forth between two counts."""
    levels = [value for value, _ in itertools.groupby(moment.value for moment in moments)]
    return 2 * len(levels) <= len(moments) and len(set(levels)) == len(levels)


def _steps(
    moments: Sequence[Moment], begin: int, end: int, better: str, least_change: float
) -> list[Change]:
    """Each other value of an exact count is a change, of which nothing is uncertain."""
    found = []
    for place in range(begin + 1, end):
        before, after = (moments[at].value for at in (place - 1, place))
        change = after / before - 1 if before else None
        if before == after or (change is not None and abs(change) < least_change):
            continue
        found.append(
            Change(
                place,
                before,
                after,
                change,
                None,
                None,
                0.0,
                (after < before) == (better == "lower"),
                moments[place - 1].commit,
                moments[place].commit,
            )
        )
    return found


def _seams(seen: Sequence[tuple[RunPoints, Point]]) -> list[Seam]:
    found = []
    for place, ((run, point), (next_run, next_point)) in enumerate(itertools.pairwise(seen), 1):
        pairs = [
            (run.system, next_run.system),
            (point.toolchain, next_point.toolchain),
            (_input(point), _input(next_point)),
        ]
        if unlike_peaks(point.reach, next_point.reach):
            pairs.append((_reach(point), _reach(next_point)))
        if why := [
            f"{old or 'unknown'} became {new or 'unknown'}" for old, new in pairs if old != new
        ]:
            found.append(Seam(place, "; ".join(why)))
    return found


def _reach(point: Point) -> str:
    return f"the peak of {point.reach or 'one process'}"


def _input(point: Point) -> str:
    return f"the input {point.input[:SHORT]}" if point.input else "no input"


def _changes(
    moments: Sequence[Moment], begin: int, end: int, better: str, least_change: float
) -> list[Change]:
    values = [moment.value for moment in moments[begin:end]]
    points = change_points(values, least_change=least_change)
    found = []
    for number, point in enumerate(points):
        back = next(
            (
                later.index + begin
                for later in points[number + 1 :]
                if abs(later.after - point.before) < abs(point.after - point.before) / 2
            ),
            None,
        )
        place = point.index + begin
        found.append(
            Change(
                place,
                point.before,
                point.after,
                point.change,
                point.low,
                point.high,
                point.p_value,
                (point.after < point.before) == (better == "lower"),
                moments[place - 1].commit,
                moments[place].commit,
                back,
            )
        )
    return found
