"""How far machines are, and what the view says of it."""

from __future__ import annotations

import json
from pathlib import Path

from heapwise.cli.frame.ask.fleet_form import FleetLines
from heapwise.cli.frame.tell.console import Console
from heapwise.fleet.fleet_file import MachineState
from heapwise.fleet.plan_progress import PlanProgress, RoundClock
from heapwise.model.by_machine import ByMachine, MachineRow


def store_rounds(folder: Path, last: int) -> None:
    folder.mkdir(exist_ok=True)
    plan = {"max_rounds": 10, "warm_up_rounds": 0, "time_s": 0.0}
    (folder / "run.json").write_text(json.dumps({"plan": plan}))
    lines = [json.dumps({"round": number, "more": "x" * 100}) for number in range(last + 1)]
    (folder / "samples.jsonl").write_text("\n".join(lines) + '\n{"round": 9')


def test_the_rest_of_a_plan_takes_as_long_as_its_rounds_did(tmp_path: Path) -> None:
    clock = RoundClock(tmp_path / "run", 100.0)
    assert clock.read("f1", "a", 101.0) is None
    store_rounds(tmp_path / "run", 1)
    first = clock.read("f1", "a", 110.0)
    assert first is not None
    assert first.left_s is None  # no round was whole since it was looked at
    store_rounds(tmp_path / "run", 5)
    assert clock.read("f1", "a", 140.0) == PlanProgress("f1", "a", 5, 10, 50.0)


class Heard(Console):
    """Keeps the lines that are printed."""

    def __init__(self) -> None:
        super().__init__(quiet=False, as_json=False)
        self.lines: list[str] = []

    def say(self, text: str = "") -> None:
        self.lines.append(text)


def test_the_slowest_machine_decides_when_all_are_done() -> None:
    heard = Heard()
    lines = FleetLines(heard)
    states = {
        "a": MachineState("complete", 1),
        "b": MachineState(),
        "c": MachineState(),
        "d": MachineState(),
    }
    told = {
        name: PlanProgress("f1", name, 1, 10, left)
        for name, left in [("a", 900.0), ("b", 30.0), ("c", 90.0)]
    }
    lines.machines(states, told, 10.0)
    assert "1 of 4 machines complete" in heard.lines[-1]
    assert "(c, not known of 1)" in heard.lines[-1]
    lines.machines(states, told, 20.0)
    assert len(heard.lines) == 1  # nothing is new
    lines.machines(states, {}, 50.0)
    assert "eta" not in heard.lines[-1]


def test_one_machine_is_not_many() -> None:
    row = MachineRow("m", "h", "k", "cpu", 2, "Linux", "glibc", 0.9, 0.8, 1.1, "better", "good")
    assert ByMachine("a", "time", "", [row], 0, 0).sentence.endswith("on any of 1 machine")
    assert ByMachine("a", "time", "", [row] * 2, 2, 0).sentence == "a: better on 2 of 2 machines"
