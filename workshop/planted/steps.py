"""A planted effect of steps: a library computes more in each process of the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from heapwise.model import SIDE_BY_SIDE
from workshop.planted.judged import PLAIN, name_of
from workshop.planted.plant import Dose, Paid, build_plant, read_record, record_in_memory
from workshop.planted.ready import Ready
from workshop.planted.truth import (
    TRIAL,
    Alone,
    Truth,
    doses,
    joined,
    one_processor,
    run_alone,
    runs_alone,
    truths,
)


class Steps:
    """Measures the program alone at once, and again when it is asked what is true."""

    def __init__(self, ready: Ready, percents: Sequence[float]) -> None:
        """CannotPlant if the program has no place for steps."""
        self._ready = ready
        self.library = build_plant(ready.folder)
        self._noted = ready.folder / "record"
        trial = run_alone(self._run, self.library, TRIAL, self._noted)
        self._doses = doses(trial, percents)
        subjects = {PLAIN: Dose()} | {name_of(p): dose for p, dose in self._doses.items()}
        self._records = {name: record_in_memory(name) for name in subjects}
        self.subjects = {
            name: dose.variables(self._records[name]) for name, dose in subjects.items()
        }
        self.command = ready.command
        self._before = self._alone()

    def truths(self) -> dict[str, dict[float, Truth]]:
        """Quantity -> percent -> what it really costs."""
        after = self._alone()
        text = msgspec.json.format(msgspec.json.encode([self._before, after]))
        (self._ready.folder / "alone.json").write_bytes(text)
        return {name: truths(joined(runs, after[name])) for name, runs in self._before.items()}

    def records(self) -> dict[str, list[Paid]]:
        """Subject -> what was planted in its processes."""
        return {name: read_record(file) for name, file in self._records.items()}

    def _run(self, variables: Mapping[str, str]) -> None:
        self._ready.run(self._ready.command, variables)

    def _alone(self) -> dict[str, dict[float, list[Alone]]]:
        """On all processors, and on one: a program with several threads does other work there, and
        to start a process costs other time."""

        def runs() -> dict[float, list[Alone]]:
            return runs_alone(self._run, self.library, self._doses, self._noted)

        found = {"cpu_time": runs()}
        with one_processor():
            found[SIDE_BY_SIDE] = runs()
        return found
