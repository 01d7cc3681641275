"""Each rule of the language finds what it forbids, and leaves alone what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.language import offences
from docs.tree import TextFile


def found(text: str, name: str = "docs/page.md") -> list[str]:
    return list(offences(TextFile(Path(), name, text)))


@pytest.mark.parametrize(
    "text",
    [
        "A pointer that is no block is refused.",
        "// Fake stacks are no stacks.",
        "It stays with whoever frees it.",
        "That which is free goes back.",
        "A run shall look like this.",
        "Runs so many rounds.",
        "Left out for want of rounds.",
        "The row confesses it.",
        "A lock that is held by who waits.",
        "0 for what is not a block.",
        "Stop after so long: 90s.",
        'It prints "so much".',
        "Ten repetitions in each process.",
        "All but for the last line.",
        "The file is written anew.",
        "It goes to whom comes next.",
        "The rows thereof are not shown.",
        "Should nobody have asked, it stays.",
        "Its memory may not be read.",
        "What is not measured is left out.",
        "- What the heap keeps is in `a.b`.",
        "The remedy that seed 004 names.",
        "False if no cache can be had.",
        "The reason is said.",
    ],
)
def test_a_planted_sentence_is_found(text: str) -> None:
    [line] = found(f"# Title\n\n{text}\n")
    assert line.startswith('docs/page.md:3: "')
    assert "write " in line


@pytest.mark.parametrize(
    "text",
    [
        "There is no interval.",
        "If there\n// is no interval, say so.",
        "It is no longer here and no faster than that.",
        "There are so many mappings that the kernel refuses.",
        "Whatever the size is.",
        "A user by whom it was asked.",
        "It takes so long that nobody waits.",
        "## What is not measured\n\nAll that ends.",
        "What does it cost? Nothing.",
        "What it costs:",
        "It says what is missing.",
        "A user to whom it belongs.",
        "Threads may not have started yet.",
        "Should it be faster?",
        "It was run with seed 17.",
        "Memory can be handed out.",
    ],
)
def test_plain_english_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_comments_may_begin_with_what_and_pages_of_the_design_may_not() -> None:
    text = "What is not measured is left out.\n"
    assert found(text, "python/heapwise/a.py") == []
    assert len(found(text, "docs/design/heap.md")) == 1


def test_text_of_others_is_left_alone() -> None:
    assert found("The licensee shall ...", "LICENSE") == []


def test_a_page_of_results_is_checked_except_for_what_a_command_wrote() -> None:
    page, wrong = "docs/results/some/page.md", "All but for one.\n"
    assert found(f"<!-- Made by `this`; do not edit. -->\n\n{wrong}", page) == []
    assert found(f"# Title\n\n```text\n{wrong}```\n", page) == []
    assert len(found(f"# Title\n\n```text\n{wrong}```\n\n{wrong}", page)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def test_a_folder_is_no_peer() -> None:",
        "def test_a_layout_that_is_none_is_refused() -> None:",
        "def test_runs_have_none() -> None:",
        "async def test_too_few_rounds_are_said() -> None:",
        "def test_who_crashed_has_no_place() -> None:",
        'TEST_CASE("only who asks collects") {',
        'TEST_CASE_TEMPLATE("a block that is none", Pool) {',
        'TEST_CASE(\n    "frees, no matter who frees") {',
        "def test_what_is_written_is_read() -> None:",
    ],
)
def test_a_planted_name_of_a_test_is_found(text: str) -> None:
    [line] = found(text, "tests/stress/some_test.cpp")
    assert "write " in line


@pytest.mark.parametrize(
    "text",
    [
        "def test_there_is_no_interval() -> None:",
        "def test_where_there_is_none_nothing_is_found() -> None:",
        "def test_it_is_no_longer_here() -> None:",
        "def test_a_user_who_waits_sees_a_line() -> None:",
        "def test_what_why_and_next() -> None:",
        "def test_it_says_what_is_missing() -> None:",
        "def is_no_test() -> None:",
        "assert names == [] and who",
    ],
)
def test_plain_names_of_tests_are_left_alone(text: str) -> None:
    assert found(text, "tests/lab/test_some.py") == []


def test_a_docstring_that_has_no_subject_is_found() -> None:
    fragment = 'WIDTH = 3\n"""Of a row."""\n'
    assert found(fragment, "python/heapwise/a.py")
    assert not found(fragment.replace("Of a", "The width of a"), "python/heapwise/a.py")
