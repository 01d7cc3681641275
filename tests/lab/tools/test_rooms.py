"""rooms.py counts what it says, and the code keeps what was reached."""

from __future__ import annotations

from pathlib import Path

import rooms


def checkout(folder: Path, **files: str) -> Path:
    """A checkout with these files: ``a__b`` is a/b.py."""
    for name, text in files.items():
        path = folder / "python" / "heapwise" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_question_for_the_kind_is_counted_outside_its_room(tmp_path: Path) -> None:
    asks = "if plan.kind == 'run' or plan.options.gate:\n    pass\n"
    root = checkout(tmp_path, runner__start=asks, study__gate=asks, model__plan=asks)
    assert rooms.questions_for_kinds(root) == 2


def test_files_are_counted_in_the_folder_that_holds_them(tmp_path: Path) -> None:
    root = checkout(tmp_path, stats__a="", stats__b="", stats__deep__c="", errors="")
    found = rooms.folders(root)
    assert found["python/heapwise/stats"] == 2
    assert found["python/heapwise/stats/deep"] == 1


def test_each_checkout_has_a_column(tmp_path: Path) -> None:
    one = checkout(tmp_path / "one", a="x: dict[str, Any] = {}\n")
    other = checkout(tmp_path / "other", a="", report__sections__answer="a = 1\nb = 2\n")
    lines = rooms.table([one, other]).splitlines()
    assert lines[0] == "| figure | one | other |"
    assert "| `dict[str, Any]` | 1 | 0 |" in lines
    assert "| lines that say a result | 0 | 2 |" in lines


def test_few_dictionaries_hold_anything() -> None:
    """Values have types. The rest is what a library gives, or what is stored as it came."""
    assert int(rooms.figures(rooms.ROOT)["`dict[str, Any]`"]) < 20


def test_few_places_outside_their_room_ask_for_the_kind_of_a_run() -> None:
    """The rest says the kind to a user, or needs what only runs of that kind have."""
    assert rooms.questions_for_kinds(rooms.ROOT) < 30


def test_no_folder_of_the_product_has_more_than_25_files() -> None:
    [(name, count)] = rooms.folders(rooms.ROOT).most_common(1)
    assert count <= 25, name
