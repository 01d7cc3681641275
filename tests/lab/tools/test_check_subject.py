"""The subject of a commit names an area and begins with a verb."""

from __future__ import annotations

from pathlib import Path

import pytest

import check_subject


@pytest.mark.parametrize(
    "subject",
    [
        "heap: bound the number of adoptions per refill",
        "README: say how long a comparison takes",
        "tests/unit: give variables noun names",
        "Merge branch 'fleet'",
        'Revert "heap: trim"',
    ],
)
def test_a_subject_by_the_rule(subject: str) -> None:
    assert check_subject.trouble(subject) == ""


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("style", "no area"),
        ("A word", "no area"),
        ("heap:bound", "no area"),
        ("", "no area"),
        ("heap: the bound of a refill", "verb"),
        ("tests: What a cache keeps", "verb"),
        ("heap: bound " + "x" * 100, "letters"),
    ],
)
def test_another_subject_is_refused(subject: str, reason: str) -> None:
    assert reason in check_subject.trouble(subject)


def test_git_s_file_of_the_message_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    message = tmp_path / "COMMIT_EDITMSG"
    monkeypatch.setattr("sys.argv", ["check_subject.py", str(message)])
    message.write_text("heap: trim a cache\n\nThe reason: memory.\n")
    assert check_subject.main() == 0
    message.write_text("A word\n\nheap: trim a cache\n")
    assert check_subject.main() == 1
    assert "has no area" in capsys.readouterr().out
