"""V8 on real processes: what a program prints, writes and leaves behind is part of its work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heapwise.store import read_run

pytestmark = pytest.mark.usefixtures("built_native")

UNDER_JEMALLOC = 'case "$LD_PRELOAD" in *jemalloc*) {} ;; *) {} ;; esac'


def compare(heapwise: Any, *words: str) -> Any:
    return heapwise(
        "compare",
        "--allocators",
        "jemalloc,glibc",
        "--runs",
        "1",
        "--warmup",
        "0",
        "--json",
        *words,
    )


def shell(heapwise: Any, script: str, *options: str) -> Any:
    return compare(heapwise, *options, "--", "/bin/sh", "-c", script)


def v8(done: Any) -> dict[str, Any]:
    assert done.stdout, done.stderr
    return next(c for c in json.loads(done.stdout)["trust"]["checks"] if c["id"] == "V8")


def under_jemalloc(tmp_path: Path) -> list[tuple[str, str]]:
    processes = read_run(tmp_path / "store", "last").processes
    return [
        (p.status, p.reason) for p in processes if p.subject == "jemalloc" and not p.facts.counting
    ]


def test_a_program_that_prints_nothing_proves_no_work(heapwise: Any) -> None:
    found = v8(compare(heapwise, "--", "/bin/true"))
    assert found["verdict"] == "warn"
    assert "--output-file" in found["detail"]


def test_children_left_behind_fail(heapwise: Any) -> None:
    """The figures are those of the first process alone: a daemon would look fast."""
    done = shell(heapwise, "sleep 9 & echo done", "--strict")
    found = v8(done)
    assert found["verdict"] == "fail"
    assert "left up to 1 other running" in found["detail"]
    assert done.returncode == 4


def test_children_left_behind_may_be_allowed(heapwise: Any) -> None:
    done = shell(heapwise, "sleep 9 & echo done", "--allow-background")
    assert v8(done)["verdict"] == "warn"
    assert done.returncode != 3, done.stderr


def test_work_that_goes_on_after_the_end_of_the_program_is_reported(heapwise: Any) -> None:
    """It ends by itself before it would be killed, and its time is in no figure. A busy machine may
    not let it end in the fifth of a second that it has, but not each time."""
    for _ in range(6):
        found = v8(shell(heapwise, "(sleep 0.05; echo late) & echo done"))
        if found["verdict"] != "fail":
            break
    assert found["verdict"] == "warn"
    assert "after it had ended" in found["detail"]


def test_files_of_the_same_contents_are_the_same_work(heapwise: Any, tmp_path: Path) -> None:
    done = shell(
        heapwise, "echo same >one; echo more >two", "--output-file", "one", "--output-file", "two"
    )
    found = v8(done)
    assert found["verdict"] == "pass", done.stderr
    assert "2 files" in found["detail"]
    hashes = {
        tuple((p.facts.output_files or {}).values())
        for p in read_run(tmp_path / "store", "last").processes
        if not p.facts.counting
    }
    assert len(hashes) == 1


def test_a_file_with_other_contents_under_one_allocator_is_its_row(
    heapwise: Any, tmp_path: Path
) -> None:
    done = shell(
        heapwise, UNDER_JEMALLOC.format("echo other >out", "echo same >out"), "--output-file", "out"
    )
    assert done.returncode == 3
    assert set(under_jemalloc(tmp_path)) == {
        ("output_differs", f"{tmp_path}/out is not the file that the baseline writes")
    }


def test_a_file_that_is_left_from_an_earlier_process_is_not_this_ones_work(
    heapwise: Any, tmp_path: Path
) -> None:
    done = shell(heapwise, UNDER_JEMALLOC.format(":", "echo same >out"), "--output-file", "out")
    assert done.returncode == 3
    assert set(under_jemalloc(tmp_path)) == {("failed", f"it did not write {tmp_path}/out")}


def test_a_baseline_that_writes_nothing_new_ends_the_comparison(
    heapwise: Any, tmp_path: Path
) -> None:
    """As ``make`` does the second time."""
    done = shell(heapwise, "test -e out || echo built >out", "--output-file", "out")
    assert done.returncode == 3
    assert f"it did not write {tmp_path}/out" in " ".join(done.stderr.split())


def test_an_output_file_that_is_a_folder_is_refused(heapwise: Any, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    done = shell(heapwise, "true", "--output-file", "folder")
    assert done.returncode == 2
    assert "--output-file folder" in done.stderr


def test_the_check_judges_each_process(heapwise: Any, tmp_path: Path) -> None:
    script = UNDER_JEMALLOC.format("echo 6 >out", "echo 7 >out")
    good = shell(heapwise, "echo 7 >out", "--check", "test $(cat out) = 7")
    assert v8(good)["verdict"] == "pass", good.stderr
    assert "--check" in v8(good)["detail"]
    bad = shell(
        heapwise, script, "--check", "test $(cat out) = 7 || { echo it is $(cat out) >&2; exit 5; }"
    )
    assert bad.returncode == 3
    assert set(under_jemalloc(tmp_path)) == {("failed", "--check ended with 5: it is 6")}


def test_the_check_runs_without_the_libraries(heapwise: Any, tmp_path: Path) -> None:
    """A check under the allocator that is measured would not be a judge of it."""
    done = shell(
        heapwise, "echo same", "--check", 'echo "preload=$LD_PRELOAD" >>seen; test -z "$LD_PRELOAD"'
    )
    assert v8(done)["verdict"] == "pass", done.stderr
    assert set((tmp_path / "seen").read_text().splitlines()) == {"preload="}


def test_a_resumed_run_compares_with_the_files_of_its_first_process(
    heapwise: Any, tmp_path: Path
) -> None:
    done = shell(heapwise, "cat source >out", "--output-file", "out")
    assert done.returncode == 3, "there is no source yet"
    (tmp_path / "source").write_text("first")
    assert v8(shell(heapwise, "cat source >out", "--output-file", "out"))["verdict"] == "pass"
    (tmp_path / "source").write_text("second")
    again = heapwise("resume", "--runs", "2")
    assert again.returncode == 3
    assert "E031" in again.stderr


def test_where_output_is_ignored_a_file_can_still_prove_the_work(heapwise: Any) -> None:
    bare = v8(shell(heapwise, "echo $$", "--ignore-output"))
    assert bare["verdict"] == "warn"
    proven = v8(
        shell(heapwise, "echo $$; echo same >out", "--ignore-output", "--output-file", "out")
    )
    assert proven["verdict"] == "pass", proven["detail"]
