"""Settings behind the place of a fleet run."""

from __future__ import annotations

import pytest

from heapwise.errors import Problem
from heapwise.fleet.job import STALL_S
from heapwise.fleet.target import FleetTarget


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("hosts.toml", FleetTarget("hosts.toml", 1, STALL_S)),
        ("slurm:batch,machines=4", FleetTarget("slurm:batch", 4, STALL_S)),
        ("slurm:batch,stall=2h,machines=4", FleetTarget("slurm:batch", 4, 7200.0)),
        ("dask:tcp://a:1,stall=90s", FleetTarget("dask:tcp://a:1", 1, 90.0)),
        ("our,machines.toml", FleetTarget("our,machines.toml", 1, STALL_S)),
        ("a,machines=2/hosts.toml", FleetTarget("a,machines=2/hosts.toml", 1, STALL_S)),
    ],
)
def test_settings_follow_the_place(text: str, target: FleetTarget) -> None:
    assert FleetTarget.parse(text) == target


@pytest.mark.parametrize("setting", ["machines=0", "machines=x", "machines=", "stall=long"])
def test_a_setting_that_is_not_one_is_refused(setting: str) -> None:
    with pytest.raises(Problem) as refused:
        FleetTarget.parse(f"slurm:batch,{setting}")
    assert refused.value.id == "E003"
