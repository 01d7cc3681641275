"""What a message says of a run: what happened, in words that fit it, and a way that works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")

ONE = ("compare", "--allocators", "jemalloc", "--rounds", "1", "--warmup", "0")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_a_program_that_fails_without_a_word_is_not_said_to_have_spoken(heapwise: Any) -> None:
    done = heapwise(*ONE, "--", "sh", "-c", "kill -35 $$")
    said = flat(done.stderr)
    assert done.returncode == 3
    assert "crashed (signal 35, SIGRTMIN+1), and it said nothing on stderr" in said
    assert "above" not in said
    assert said.count("failed under the baseline") == 1


def test_output_that_differs_can_be_looked_at(heapwise: Any) -> None:
    done = heapwise(*ONE, "--", "sh", "-c", "cat /proc/sys/kernel/random/uuid")
    assert done.returncode == 3
    assert "diff <(" in done.stderr
    assert "uuid') <(" in done.stderr


def test_an_error_is_json_if_json_was_asked_for(heapwise: Any) -> None:
    done = heapwise("compare", "--json", "--", "./nosuch")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["id"] == "E010"
    assert {"what", "why", "do"} <= error.keys()
    assert json.loads(heapwise("gate", "--json").stdout)["error"]["id"] == "E003"
    assert heapwise("compare", "--", "./nosuch", "--json").stdout == ""


def test_an_export_that_cannot_be_written_endangers_no_result(
    heapwise: Any, tmp_path: Path
) -> None:
    assert heapwise(*ONE, "--", "true").returncode == 0
    for words in (("export", "-o"), ("report", "--open", "no", "-o")):
        done = heapwise(*words, str(tmp_path))
        assert done.returncode == 5
        assert f"{tmp_path} is a folder. The run itself is safe." in flat(done.stderr)
        missing = heapwise(*words, str(tmp_path / "no" / "file"))
        assert "The run itself is safe." in flat(missing.stderr)
        assert "in a folder that exists" in flat(missing.stderr)


def test_options_after_the_dashes_are_noted(heapwise: Any) -> None:
    done = heapwise("compare", "--dry-run", "--", "true", "--rounds", "1")
    assert done.returncode == 0
    assert "--rounds: words after -- are arguments of the program" in done.stdout
    assert "words after --" not in heapwise("compare", "--dry-run", "--", "true", "-x").stdout


def test_a_library_that_is_not_used_is_named_with_what_was(heapwise: Any, tmp_path: Path) -> None:
    library = next(Path("/lib").glob("*/libm.so.6"))
    done = heapwise(
        *ONE[:1], "--allocator", f"a={library}", "--allocators", "a", *ONE[3:], "--", "true"
    )
    assert "Another malloc than the chosen one was used in 1 of 3 processes: a used " in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-r", "3", "--export-json", "x.json", "true"], "do: --export FILE.json"),
        (["-r", "3", "./server", "--bench"], "heapwise compare -- ./server --bench"),
    ],
)
def test_an_unknown_option_has_a_way_out_that_works(
    heapwise: Any, words: list[str], said: str
) -> None:
    done = heapwise("compare", *words)
    assert done.returncode == 2
    assert said in done.stderr
