"""What the program of an author printed is read as it is, or refused with its line and a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heapwise.catalog.author_output import read_author_output
from heapwise.errors import Problem

Records = list[dict[str, float | str]]


def read(folder: Path, text: str) -> Records:
    path = folder / "output"
    path.write_text(text)
    return read_author_output(path).records


def benchmark(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "run_name": name, "run_type": "iteration", "time_unit": "us", **more}


def google(*benchmarks: dict[str, object]) -> str:
    return json.dumps({"context": {"num_cpus": 2}, "benchmarks": benchmarks}, indent=1)


def test_a_repeat_of_google_benchmark_is_a_record_with_times_in_nanoseconds(
    tmp_path: Path,
) -> None:
    text = google(
        benchmark("BM_A/4", real_time=2.0, cpu_time=1.5, items_per_second=3, label="x"),
        benchmark("BM_A/4", real_time=4.0, cpu_time=3.5, items_per_second=2e9),
        benchmark("BM_A/4_median", run_type="aggregate", aggregate_name="median", real_time=3.0),
        benchmark("BM_B", error_occurred=True, real_time=0.0),
    )
    assert read(tmp_path, text) == [
        {"name": "BM_A/4", "real_time": 2000.0, "cpu_time": 1500.0, "items_per_second": 3.0},
        {"name": "BM_A/4", "real_time": 4000.0, "cpu_time": 3500.0, "items_per_second": 2e9},
    ]


def test_without_repeats_the_median_of_google_benchmark_counts(tmp_path: Path) -> None:
    each = {"name": "BM_A_x", "run_name": "BM_A", "run_type": "aggregate", "time_unit": "s"}
    text = google(
        {**each, "aggregate_name": "mean", "real_time": 9.0},
        {**each, "aggregate_name": "median", "real_time": 2.0},
    )
    assert read(tmp_path, text) == [{"name": "BM_A", "real_time": 2e9}]


@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_a_table_has_a_record_for_each_line(tmp_path: Path, delimiter: str) -> None:
    lines = ["# made today", "name|threads|ops", "", "pool|2|1.5e6", "malloc|2|", "# end"]
    assert read(tmp_path, "\n".join(lines).replace("|", delimiter)) == [
        {"name": "pool", "threads": 2.0, "ops": 1.5e6},
        {"name": "malloc", "threads": 2.0, "ops": ""},
    ]


@pytest.mark.parametrize(
    "text",
    [
        "./a 21\n\nreal\t1m2.500s\nuser\t1m0.250s\nsys\t0m0.125s\n",
        "+ /usr/bin/time -p ./a 21\nlong lived tree\nreal 62.5\nuser 60.25\nsys 0.125\n",
        "$ time ./a 21\n       62.50 real        60.25 user         0.125 sys\n",
        "./a 21\n60.25user 0.125system 1:02.50elapsed 99%CPU (0avgtext+0avgdata 1maxresident)k\n"
        "0inputs+0outputs (0major+83minor)pagefaults 0swaps\n",
        "./a 21  60.25s user 0.125s system 99% cpu 1:02.50 total\n",
    ],
)
def test_each_form_of_time_is_read(tmp_path: Path, text: str) -> None:
    expected = {"command": "./a 21", "real": 62.5, "user": 60.25, "sys": 0.125}
    assert read(tmp_path, text) == [expected]
    assert read(tmp_path, text + text) == [expected, expected]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "the file is empty"),
        ("hello\nworld\n", 1, "the file is none of these"),
        ('{"benchmarks": [\n{"name": }]}', 2, "it is not JSON"),
        ('{"rows": []}', 1, "no list of benchmarks"),
        ('{"benchmarks": []}', 1, "none of its benchmarks"),
        (google(benchmark("BM_A", real_time=1.0) | {"time_unit": "h"}), 7, "unknown time unit"),
        ("a,b\n1,2\n1,2,3\n", 3, "it has 3 cells, and the table has 2 columns"),
        ("a,a\n1,2\n", 1, "a name of its own"),
        ("1,2\n3,4\n", 1, "has numbers, and not the names"),
        ("# made today\na,b\n", 2, "no line below the names"),
        ("real 1.0\nuser 1.0\nsys 0.0\n", 3, "the command that was timed is missing"),
        ("./a\nreal 1.0\n./b\nreal 2.0\nuser 1.0\nsys 1.0\n", 3, "user and sys is missing"),
        ("./a\nreal 1.0\nreal 1.0\n", 3, "user and sys is missing"),
        ("./a\nreal 1.0\nuser 1.0\n", 3, "sys is missing"),
    ],
)
def test_a_bad_file_is_refused_with_its_line_and_the_reason(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    with pytest.raises(Problem) as caught:
        read(tmp_path, text)
    assert caught.value.id == "E015"
    assert f"output, line {line}: " in caught.value.what
    assert reason in caught.value.what


def test_a_line_of_numbers_with_their_words_is_a_record(tmp_path: Path) -> None:
    text = (
        "faf-allocator-bench v1.0\n"
        "SnMalloc          64 bytes   268435455 allocs        4 ns per alloc\n"
        "System Allocator  1,048,576 bytes   268435455 allocs    1,391 ns per alloc\n"
    )
    assert read(tmp_path, text) == [
        {"name": "SnMalloc", "bytes": 64.0, "allocs": 268435455.0, "ns per alloc": 4.0},
        {
            "name": "System Allocator",
            "bytes": 1048576.0,
            "allocs": 268435455.0,
            "ns per alloc": 1391.0,
        },
    ]
    with pytest.raises(Problem, match="line 1: two of its numbers have the same words"):
        read(tmp_path, "a 3 bytes 4 bytes\n")


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "output"
    with pytest.raises(Problem, match="cannot be read"):
        read_author_output(path)
    path.write_bytes(b"a,b\n1,\xff\n")
    with pytest.raises(Problem, match="line 2: it is not UTF-8"):
        read_author_output(path)
