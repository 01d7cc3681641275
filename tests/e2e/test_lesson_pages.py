"""Pages of small experiments teach: the loop, its instructions, what to learn, what to try."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_a_page_shows_the_loop_of_the_program_that_was_measured(
    heapwise: Any, built_native: Path, tmp_path: Path
) -> None:
    done = heapwise("run", "cache/stride_access", "--smoke", "--set", "build=O2")
    assert done.returncode == 0, done.stderr
    done = heapwise("export", "last", "--format", "pages", "--output", "pages")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "pages" / "cache" / "stride_access.md").read_text()
    assert "## What to learn from it" in page
    assert page.count("- `heapwise run cache/stride_access --set ") == 2
    loop = page.partition("## The loop")[2].partition("## Try")[0]
    assert "std::uint64_t add_up(" in loop
    instructions = loop.partition("```asm")[2]
    assert "; (anonymous namespace)::add_up(" in instructions
    assert "top: " in instructions


def test_a_page_of_a_partial_run_does_not_replace_a_whole_one(
    heapwise: Any, built_native: Path, tmp_path: Path
) -> None:
    def export() -> Any:
        return heapwise("export", "last", "--format", "pages", "--output", "pages")

    heapwise("run", "cache/stride_access", "--smoke", "--set", "build=O2")
    assert export().returncode == 0
    before = (tmp_path / "pages" / "cache" / "stride_access.md").read_text()
    heapwise("run", "cache/stride_access", "--smoke", "--set", "build=O2", "--set", "stride=1")
    refused = export()
    assert refused.returncode == 2
    assert "would lose figures: cache/stride_access.md" in " ".join(refused.stderr.split())
    assert (tmp_path / "pages" / "cache" / "stride_access.md").read_text() == before
