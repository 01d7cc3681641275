"""A toy peer, a data folder of its own, and a PATH that can lack a tool."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from toy_peer import Place, Told, make_place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    found = make_place(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_DATA_HOME", str(found.data))
    monkeypatch.setenv("HEAPWISE_PEERS", str(found.peer.parent))
    return found


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def without(place: Place, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Leaves on the PATH what the recipes use, except for the tools that are named."""

    def take(*names: str) -> None:
        few = place.root / "few"
        few.mkdir()
        for tool in {"cargo", "make", "cmake", "cc", "c++", "sh"} - set(names):
            found = [Path(folder) / tool for folder in os.environ["PATH"].split(":")]
            (few / tool).symlink_to(next(path for path in found if path.exists()))
        monkeypatch.setenv("PATH", str(few))

    return take
