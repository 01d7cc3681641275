"""What one run of pytest makes once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from shared import once, shared_folder


def test_it_is_made_once_and_others_wait_for_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = shared_folder(tmp_path_factory)
    begun: list[Path] = []

    def make(folder: Path) -> None:
        begun.append(folder)
        (folder / "first").touch()
        (folder / "last").touch()

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(once, tmp_path_factory, "made-once", make) for _ in range(40)]
        found = {each.result() for each in asked}
    assert begun == [*found] == [folder / "made-once"]
    assert {"first", "last"} <= {path.name for path in begun[0].iterdir()}


def test_a_failure_is_tried_again(tmp_path_factory: pytest.TempPathFactory) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        once(tmp_path_factory, "tried-again", fail)
    folder = once(tmp_path_factory, "tried-again", lambda folder: (folder / "whole").touch())
    assert (folder / "whole").exists()


def test_all_processes_of_a_run_have_the_same_folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path_factory.getbasetemp()
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    assert shared_folder(tmp_path_factory) == own.parent
    monkeypatch.delenv("PYTEST_XDIST_WORKER")
    assert shared_folder(tmp_path_factory) == own
