"""A fleet run on machines of their own networks, disks and clocks that is struck by every kind of
fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from fleet_faults.campaign import strike_fleet
from fleet_faults.machines import why_not


@pytest.mark.slow
def test_faults_of_every_kind_lose_and_double_nothing(tmp_path: Path) -> None:
    """``python -m fleet_faults`` strikes 300 times; this does each kind at least once."""
    if reason := why_not():
        pytest.skip(reason)
    struck = strike_fleet(tmp_path, machines=2, faults=30, rounds=300, seed=1)
    assert sum(struck.kinds.values()) == 30
    assert len(struck.kinds) == 18
    assert struck.samples > 2 * 2 * 300
