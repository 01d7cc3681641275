"""One self-test from begin to end."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from heapwise import __version__
from heapwise.catalog import build_fingerprint
from heapwise.machine import machine_fingerprint, read_machine
from heapwise.model import Planted, SelfTest
from heapwise.selftest.effects import effects
from heapwise.selftest.plants import NOT_POSSIBLE, PLANTS, Plant
from heapwise.selftest.workbench import Workbench

STEPS = len(PLANTS) + len(NOT_POSSIBLE) + 15
"""About how many results there will be, for the progress."""


def conduct_self_test(told: Callable[[Planted], None]) -> SelfTest:
    """Plants everything; ``told`` gets each result as it comes. About a minute.

    Problem E052 when a native part is missing. KeyboardInterrupt when the user stops it.
    """
    began_s = time.monotonic()
    build, machine = build_fingerprint(), machine_fingerprint(read_machine())
    found: list[Planted] = []
    with tempfile.TemporaryDirectory(prefix="heapwise-selftest-") as folder:
        for planted in _all(Path(folder)):
            found.append(planted)
            told(planted)
    return SelfTest(
        datetime.now(UTC).isoformat(timespec="seconds"),
        __version__,
        build,
        machine,
        round(time.monotonic() - began_s, 1),
        found,
    )


def _all(folder: Path) -> Iterator[Planted]:
    yield from effects(Workbench(folder))
    for number, plant in enumerate(PLANTS):
        store = folder / str(number)
        store.mkdir()
        yield _look(plant, Workbench(store))
    for check, reason in NOT_POSSIBLE.items():
        yield Planted(check, "its fault", "not possible", reason)


def _look(plant: Plant, bench: Workbench) -> Planted:
    try:
        fired, words = plant.look(bench)
    except OSError as error:
        return Planted(plant.check, plant.planted, "not possible", str(error.strerror or error))
    return Planted(plant.check, plant.planted, "found" if fired else "missed", words)
