"""What trees/<language>/rows.toml promise each other, the published report and CMake."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from heapwise.catalog.published_file import read_published
from heapwise.catalog.tree_rows import TreePrograms, TreeRow, how_built, read_trees
from heapwise.model import SubjectName

ROOT = Path(__file__).resolve().parents[3]
TREES = ROOT / "trees"
LANGUAGES = read_trees(TREES)
BUILT = re.compile(r"^\s*add_tree\((\w+)", re.MULTILINE)
NATIVE = re.compile(r"\{native\}/trees/(\w+)")


def rows() -> Iterator[tuple[TreePrograms, TreeRow]]:
    for programs in LANGUAGES:
        for row in programs.language.row:
            yield programs, row


def test_every_line_of_the_published_report_has_a_row_here() -> None:
    published = read_published(ROOT / "published/binary-trees.toml").places
    places = [place for place in published if place.quantity != "processor_time"]
    named = {SubjectName.parse(place.subject).inner for place in places}
    # Tiny GC is not here; our collector and 32-bit Dart are rows that the report does not print.
    assert len(places) == (25 - 1 + 2) * 3
    assert named <= {row.name for _, row in rows()}


def test_cmake_builds_what_the_rows_start() -> None:
    built = set(BUILT.findall((TREES / "CMakeLists.txt").read_text()))
    started = {name for _, row in rows() for name in NATIVE.findall(" ".join(row.command))}
    assert started == built


@pytest.mark.parametrize("programs", LANGUAGES, ids=lambda programs: programs.name)
def test_a_row_is_not_tuned_by_the_user_in_silence(programs: TreePrograms) -> None:
    """What a row or its budget sets is a variable that is taken from the user's environment."""
    prefixes = tuple(programs.language.environment_prefixes)
    for row in programs.language.row:
        places = (row.environment, *(point.environment for point in row.budget))
        strange = [name for place in places for name in place if not name.startswith(prefixes)]
        assert strange == [], row.name


@pytest.mark.parametrize("programs", LANGUAGES, ids=lambda programs: programs.name)
def test_a_budget_changes_something_from_point_to_point(programs: TreePrograms) -> None:
    for row in programs.language.row:
        points = [
            (sorted((row.environment | point.environment).items()), point.arguments, point.command)
            for point in row.budget
        ]
        assert len(points) == len({repr(point) for point in points}), row.name
        assert len({point.label for point in row.budget}) == len(row.budget), row.name


@pytest.mark.parametrize("programs", LANGUAGES, ids=lambda programs: programs.name)
def test_a_row_that_cannot_run_says_how_to_get_it(programs: TreePrograms) -> None:
    assert programs.language.get
    assert programs.language.version


@pytest.mark.parametrize(
    "lock", sorted(TREES.glob("*/package-lock.json")), ids=lambda lock: str(lock.parent.name)
)
def test_packages_are_locked_by_hash_and_not_by_address(lock: Path) -> None:
    text = lock.read_text()
    assert '"integrity"' in text
    assert "://" not in text


def test_how_a_row_was_built_is_known_without_folders() -> None:
    nim = next(programs for programs in LANGUAGES if programs.name == "nim")
    refc = next(row for row in nim.language.row if row.name == "nim_refc")
    build = how_built(nim, refc, nim.places())
    assert build.startswith("nim c -d:danger --mm:refc")
    assert "markAndSweep" not in build, "that is of another row"
    assert "/" not in build.replace("--nimcache:", "")
    rust = next(programs for programs in LANGUAGES if programs.name == "rust")
    assert all(
        how_built(rust, row, rust.places()).startswith("cargo build --release")
        for row in rust.language.row
    )


def test_how_a_native_row_was_built_is_what_cmake_wrote(tmp_path: Path) -> None:
    languages = {programs.name: programs for programs in LANGUAGES}
    row = next(row for row in languages["c"].language.row)
    places = {"native": str(tmp_path)}
    assert how_built(languages["c"], row, places) == "", "an older build has no such file"
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees/builds.txt").write_text("c_gc GNU 1 -O1\nc_malloc GNU 12.2.0 -O2 -DX\n")
    assert how_built(languages["c"], row, places) == "GNU 12.2.0 -O2 -DX"
    assert how_built(languages["javascript"], languages["javascript"].language.row[0], places) == ""
