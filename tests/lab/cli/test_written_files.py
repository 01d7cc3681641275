"""The messages about a file that cannot be written."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from heapwise.cli.frame.tell import exports, gated
from heapwise.cli.frame.tell.written_files import unwritable
from heapwise.errors import Problem


@pytest.mark.parametrize(
    ("number", "id", "do"),
    [
        (errno.ENOSPC, "E051", "make room, or --output PATH on another disk"),
        (errno.EDQUOT, "E051", "make room, or --output PATH on another disk"),
        (errno.EACCES, "E050", "--output PATH in a folder that exists and that you may write"),
    ],
)
def test_a_full_disk_is_called_full(tmp_path: Path, number: int, id: str, do: str) -> None:
    problem = unwritable(tmp_path / "page.html", OSError(number, "why"))
    assert (problem.id, problem.do) == (id, do)
    assert problem.why == "The run itself is safe."


def test_a_folder_is_called_one(tmp_path: Path) -> None:
    problem = unwritable(tmp_path, OSError(errno.EISDIR, "Is a directory"))
    assert problem.what == f"{tmp_path} is a folder"


@pytest.mark.parametrize("demand", [exports.demand_exports, gated.demand_exports])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(
    demand: Callable[[Sequence[Path]], None], tmp_path: Path
) -> None:
    """A run that does not begin leaves no empty file, and an old file as it was."""
    old, new = tmp_path / "old.md", tmp_path / "new.md"
    old.write_text("figures")
    demand([old, new])
    assert old.read_text() == "figures"
    assert not new.exists()
    with pytest.raises(Problem) as caught:
        demand([tmp_path / "no-folder" / "new.md"])
    assert caught.value.id == "E050"
