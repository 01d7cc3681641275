"""What a user is told of the programs before they are measured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heapwise.catalog import installed_peers
from heapwise.cli.frame.tell.notes import notes
from heapwise.model import Build
from heapwise.runner import CompareRequest, prepare_compare

pytestmark = pytest.mark.usefixtures("built_native")


def told(*builds: Build, allocators: list[str] | None = None, **options: object) -> str:
    request = CompareRequest(builds=list(builds), allocators=allocators or [], **options)  # type: ignore[arg-type]
    return " ".join(notes(prepare_compare(request, os.environ)))


@pytest.fixture
def python(tmp_path: Path) -> str:
    """A file of this name."""
    (tmp_path / "python3.12").symlink_to("/bin/true")
    return str(tmp_path / "python3.12")


def ours() -> list[str]:
    known = {peer.name for peer in installed_peers()}
    return ["glibc", next(name for name in ("heapwise", "jemalloc") if name in known)]


def test_python_is_told_from_a_program_that_uses_malloc(python: str) -> None:
    said = told(Build("", [python, "x.py"]), allocators=ours())
    assert "pymalloc" in said
    assert f"heapwise compare -- PYTHONMALLOC=malloc {python} x.py" in said
    row = f"{ours()[1]} alone:PYTHONMALLOC=malloc={ours()[1]}"
    assert f"--allocator '{row}'" in said
    assert told(Build("", [python, "x.py"]), allocators=ours(), adhoc=[row]) == ""
    by_malloc = Build("", [python], environment={"PYTHONMALLOC": "malloc"})
    assert told(by_malloc, allocators=ours()) == ""
    assert told(Build("", ["/bin/true"]), allocators=ours()) == ""


def test_a_heap_that_no_allocator_serves_is_named(tmp_path: Path) -> None:
    (tmp_path / "java").write_bytes(Path("/bin/true").read_bytes())
    (tmp_path / "java").chmod(0o755)
    java = str(tmp_path / "java")
    said = told(Build("", [java, "Main"]), allocators=ours())
    assert "the heap of the Java virtual machine" in said
    assert "Only what native code requests reaches the allocators" in said
    assert told(Build("a", [java, "One"]), Build("b", [java, "Two"])) == ""


def test_two_builds_with_the_same_contents_are_named(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).write_bytes(Path("/bin/true").read_bytes())
        (tmp_path / name).chmod(0o755)
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    assert "old and new are files with the same contents" in told(
        Build("old", [old]), Build("new", [new])
    )
    assert told(Build("old", [old, "a"]), Build("new", [new, "b"])) == ""
    assert told(Build("a", [old]), Build("b", [old])) == ""
    assert told(Build("a", [old]), Build("b", [new], environment={"X": "1"})) == ""


def test_a_placeholder_without_a_parameter_is_named() -> None:
    said = told(Build("a", ["true", "{m}", "{n}"]), Build("b", ["true"]), parameters={"n": [1]})
    assert said.startswith("{m} stays as it is")
