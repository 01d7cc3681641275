"""Two builds at two paths run at one path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heapwise.model import BuildPlace
from heapwise.runner.commits.common_places import common_place
from heapwise.runner.commits.owner import own_name
from heapwise.runner.process.place import standing, words_at


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "heapwise" / "places"


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def read_at(place: BuildPlace, *beside: str) -> list[str]:
    """What is found at the program's path while it stands, and at others seen from there."""
    with standing(place):
        return [
            (Path(place.at).parent / name).read_text() for name in (Path(place.at).name, *beside)
        ]


def test_two_trees_have_one_path_with_all_that_lies_in_and_beside_them(
    tmp_path: Path, cache: Path
) -> None:
    base = program(tmp_path / "x" / "old" / "bin" / "app", "old program")
    new = program(tmp_path / "x" / "a-new-tree" / "bin" / "app", "new program")
    program(tmp_path / "x" / "shared", "of both")
    for tree, text in ((base.parent.parent, "old"), (new.parent.parent, "new")):
        (tree / "data").write_text(text)
        (tree / "bin" / "link").symlink_to("../data")
        (tree / "bin" / "out").symlink_to("../../shared")
    with common_place(base, new) as found:
        assert found.uneven == ""
        assert len({place.at for place in found.places}) == 1
        others = "../data", "link", "out", "../../shared"
        assert read_at(found.places[0], *others) == [
            "old program",
            "old",
            "old",
            "of both",
            "of both",
        ]
        assert read_at(found.places[1], *others) == [
            "new program",
            "new",
            "new",
            "of both",
            "of both",
        ]
    assert list(cache.iterdir()) == []
    assert base.read_text() == "old program"


@pytest.mark.parametrize("name", ["tree", "base", "head"])
def test_a_tree_may_be_called_like_a_clone(tmp_path: Path, name: str) -> None:
    base = program(tmp_path / "x" / "b" / "app", "old program")
    new = program(tmp_path / "y" / name / "app", "new program")
    with common_place(base, new) as found:
        assert [read_at(place) for place in found.places] == [["old program"], ["new program"]]


def test_two_names_in_one_folder_have_one_name_in_turn(tmp_path: Path) -> None:
    base = program(tmp_path / "x" / "app", "old program")
    new = program(tmp_path / "x" / "changed-app", "new program")
    program(tmp_path / "x" / "plugin.so", "plug-in")
    with common_place(base, new) as found:
        assert [read_at(place, "plugin.so") for place in found.places] == [
            ["old program", "plug-in"],
            ["new program", "plug-in"],
        ]
        assert {Path(place.at).name for place in found.places} == {"changed-app"}


def test_paths_of_equal_length_have_one_path_too(tmp_path: Path) -> None:
    """A program may sort by its path, or hash it."""
    base, new = (program(tmp_path / name / "app", name) for name in ("old", "new"))
    with common_place(base, new) as found:
        assert len({place.at for place in found.places}) == 1
        assert [read_at(place) for place in found.places] == [["old"], ["new"]]


def test_paths_of_equal_length_serve_where_nothing_can_be_cloned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heapwise.runner.commits.common_places.MOST_FILES", 0)
    base, new = (program(tmp_path / name / "app", name) for name in ("old", "new"))
    with common_place(base, new) as found:
        assert (found.places, found.uneven) == ([], "")


def test_one_file_stays_where_it_is(tmp_path: Path) -> None:
    base = program(tmp_path / "app", "1")
    with common_place(base, base) as found:
        assert (found.places, found.uneven) == ([], "")


def test_a_tree_that_holds_the_clones_is_not_cloned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, new = program(tmp_path / "x" / "a", "1"), program(tmp_path / "x" / "other", "2")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    with common_place(base, new) as found:
        assert found.places == []
        assert "where they would be cloned to" in found.uneven


def test_a_script_that_names_an_interpreter_in_its_tree_keeps_that_path(tmp_path: Path) -> None:
    """As the scripts of a virtual environment do."""
    for tree in ("old", "longer"):
        program(tmp_path / tree / "bin" / "python", "")
    base, new = (
        program(tmp_path / tree / "bin" / "app", f"#!{tmp_path / tree}/bin/python\n")
        for tree in ("old", "longer")
    )
    with common_place(base, new) as found:
        assert "first line" in found.uneven


def test_too_large_a_tree_is_not_cloned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = program(tmp_path / "old" / "app", "1")
    new = program(tmp_path / "longer" / "app", "2")
    for number in range(5):
        (new.parent / str(number)).touch()
    monkeypatch.setattr("heapwise.runner.commits.common_places.MOST_FILES", 3)
    with common_place(base, new) as found:
        assert "too large" in found.uneven


@pytest.mark.parametrize(("new", "uneven"), [("new", ""), ("longer", "cannot be cloned to")])
def test_a_cache_that_cannot_be_written_does_not_end_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new: str, uneven: str
) -> None:
    """As in a container whose user has no home. A file in its place refuses root too."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    base, other = (program(tmp_path / name / "app", name) for name in ("old", new))
    with common_place(base, other) as found:
        assert found.places == []
        assert uneven in found.uneven


def test_clones_that_a_killed_gate_left_are_removed(tmp_path: Path, cache: Path) -> None:
    left = cache / own_name().replace(str(os.getpid()), str(os.getpid() + 10_000_000))
    elsewhere = cache / f"anotherhost_{os.getpid() + 10_000_000}"
    for folder in (left, elsewhere):
        folder.mkdir(parents=True)
    base, new = program(tmp_path / "a" / "app", "1"), program(tmp_path / "bb" / "app", "2")
    with common_place(base, new):
        assert not left.exists()
        assert elsewhere.exists()  # the cache may be shared by machines and containers


def test_only_the_program_is_moved_in_a_command() -> None:
    place = BuildPlace("/x/old/app", "/c/base", "/c/tree", "/c/tree/app")
    assert words_at(place, ["valgrind", "/x/old/app", "/x/old/data"]) == [
        "valgrind",
        "/c/tree/app",
        "/x/old/data",
    ]
