"""The figures of an author's program stand beside ours, and have verdicts of their own."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from synthetic import pool_run

from heapwise.analysis import analyse
from heapwise.catalog import choose_published, find_published
from heapwise.catalog.author_output import read_author_output
from heapwise.catalog.published_file import read_published
from heapwise.cli.frame.tell.reproduced import conclusion_text
from heapwise.document.terminal import terminal
from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.model import AuthorOutput
from heapwise.report import View, results
from heapwise.study.reproduce.author import AuthorFigures, demand_figures, with_author
from heapwise.study.reproduce.documents import figures_csv, to_json
from heapwise.study.reproduce.reproduced import Reproduced, reproduce
from heapwise.study.reproduce.tell import author_words, figure_passages

Record = dict[str, float | str]

REPORT = """
title = "A report"
origin = "A report"
[machine.one]
title = "A machine"
[[table]]
name = "times"
title = "Times"
machine = "one"
unit = "us/op"
scale = 1000
experiment = "pool/bulk"
quantity = "alloc_fresh"
author = {name = "BM_{title}/{block_size}", scale = 1e3}
parameters = {block_size = 64}
columns = [
  {title = "median", author = {value = "real_time"}},
  {title = "sd", statistic = "sd", author = {value = "dev*"}},
]
  [[table.row]]
  title = "pool"
  name = "pool"
  subject = "unsynchronized"
  values = [0.0068, ""]
  [[table.row]]
  title = "malloc"
  name = "malloc"
  subject = "malloc@glibc"
  values = [0.075, ""]
[[table]]
name = "ratios"
title = "Ratios"
machine = "one"
unit = "x"
  [[table.row]]
  title = "malloc / pool"
  values = [11]
  ours = ["malloc / pool"]
"""


def output(pool: float, malloc: float | None, *more: Record) -> AuthorOutput:
    """Of a program that prints nanoseconds."""
    records: list[Record] = [{"name": "BM_pool/64", "real_time": pool, "deviation": pool / 10}]
    if malloc is not None:
        records.append({"name": "BM_malloc/64", "real_time": malloc, "deviation": malloc / 5})
    return AuthorOutput("/bench.json", [*records, *more])


def reproduced(folder: Path, words: str, *outputs: AuthorOutput, more: str = "") -> Reproduced:
    path = folder / "mine.toml"
    path.write_text(f'{REPORT}[[conclusion]]\nsays = "It is so."\nshows = ["{words}"]\n{more}')
    evidence = Evidence(with_author(pool_run(rounds=6), str(path), outputs))
    return reproduce(evidence, read_published(path), analyse(evidence).trust)


@pytest.mark.parametrize(
    ("words", "verdict", "size"),
    [
        ("malloc / pool >= 1", "confirmed", "as published"),
        ("malloc / pool <= 1", "refuted", "as published"),
        ("malloc / pool about 30", "confirmed", "another size"),
        ("malloc / pool level", "refuted", ""),
        ("pool >= 5", "confirmed", ""),
        ("pool / published(pool) within 1.4..1.5", "confirmed", ""),
        ("spread(malloc) / spread(pool) within 1.9..2.1", "confirmed", ""),
        ("processor_time(malloc) / processor_time(pool) within 9.9..10.1", "confirmed", ""),
    ],
)
def test_a_conclusion_has_the_verdict_of_the_authors_program(
    tmp_path: Path, words: str, verdict: str, size: str
) -> None:
    found = reproduced(tmp_path, words, output(10.0, 100.0))
    judged = found.conclusions[0].author
    assert judged is not None
    assert (judged.verdict, judged.size) == (verdict, size), judged
    assert [each.verdict for each in found.by_author] == [verdict]


def test_runs_that_disagree_decide_nothing(tmp_path: Path) -> None:
    for second, verdict in ((95.0, "cannot tell here"), (200.0, "confirmed")):
        outputs = output(10.0, 100.0), output(10.0, second)
        judged = reproduced(tmp_path, "malloc / pool >= 9.8", *outputs).conclusions[0].author
        assert judged is not None
        assert judged.verdict == verdict


def test_a_figure_that_the_author_has_not_gives_no_verdict(tmp_path: Path) -> None:
    found = reproduced(tmp_path, "malloc / pool >= 1", output(10.0, None))
    assert found.conclusions[0].author is None
    assert found.by_author == []
    found = reproduced(tmp_path, "malloc / pool >= 1", output(10.0, 100.0), more="processors = 99")
    assert found.conclusions[0].author is None, "the author's program needs as many processors"


def test_the_rows_below_ours_have_the_authors_figures(tmp_path: Path) -> None:
    outputs = output(10.0, 100.0), output(12.0, 100.0)
    found = reproduced(tmp_path, "malloc / pool >= 1", *outputs)
    times, ratios = found.tables
    assert [line[0].value for line in times.author] == pytest.approx([0.011, 0.1])
    assert times.author[0][0].low == pytest.approx(0.010)
    assert times.author[1][0].low is None, "all runs have the same figure"
    assert [line[1].value for line in times.author] == pytest.approx([0.0011, 0.02])
    assert ratios.author[0][0].value == pytest.approx(100 / 11)
    shown = terminal(figure_passages(times, with_title=True))
    assert shown.count("the author's program") == 2
    lines = list(csv.DictReader(io.StringIO(figures_csv(found))))
    assert float(lines[0]["author"]) == pytest.approx(0.011)


def test_everything_that_is_told_names_the_authors_program(tmp_path: Path) -> None:
    other: Record = {"name": "BM_other", "real_time": 1.0}
    found = reproduced(tmp_path, "malloc / pool >= 1", output(10.0, 100.0, other))
    assert found.unused == ["BM_other"]
    assert "1 file" in author_words(found)
    assert "1 of 1 conclusion: 1 confirmed. The report has no figure for BM_other." in (
        author_words(found)
    )
    assert "the author's program: confirmed: malloc / pool >= 1: 10.0" in (
        conclusion_text(found.conclusions[0])
    )
    told = json.loads(json.dumps(to_json(found, "run", "folder", [])))
    assert told["conclusions"][0]["author"]["verdict"] == "confirmed"
    assert told["tables"][0]["rows"][0]["figures"][0]["author"] == pytest.approx(0.01)
    assert told["author_files"] == ["/bench.json"]
    page = next(iter(results([(View(Evidence(pool_run(rounds=6))), found)]).values()))
    assert "| malloc, the author's program |" in page
    assert author_words(found) in page


def test_without_an_output_the_author_is_not_named(tmp_path: Path) -> None:
    found = reproduced(tmp_path, "malloc / pool >= 1")
    assert author_words(found) == ""
    assert "author" not in terminal(figure_passages(found.tables[0]))
    assert found.conclusions[0].author is None
    assert to_json(found, "run", "folder", [])["conclusions"][0]["author"] is None


def test_a_file_without_a_figure_of_the_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(REPORT)
    report = read_published(path)
    demand_figures(report, [output(1.0, None)])
    with pytest.raises(Problem, match=r"/other.json has no figure of mine; it has BM_x") as caught:
        demand_figures(
            report, [output(1.0, None), AuthorOutput("/other.json", [{"name": "BM_x", "a": 1.0}])]
        )
    assert "name BM_pool/64" in caught.value.do
    path.write_text("\n".join(line for line in REPORT.split("\n") if "author" not in line))
    path.write_text(
        path.read_text()
        .replace("parameters = {block_size = 64}", "")
        .replace(
            "columns = [\n]", 'columns = [{title = "median"}, {title = "sd", statistic = "sd"}]'
        )
    )
    with pytest.raises(Problem, match="does not say where"):
        demand_figures(read_published(path), [output(1.0, None)])


@pytest.mark.parametrize(
    ("keys", "reason"),
    [("value = 3", "value is the name"), ('value = "a", scale = 0', "scale a number above 0")],
)
def test_a_wrong_key_of_a_report_is_refused(tmp_path: Path, keys: str, reason: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(REPORT.replace('value = "real_time"', keys))
    with pytest.raises(Problem, match=reason):
        read_published(path)


def test_the_name_of_a_file_tells_runs_of_one_program_apart(tmp_path: Path) -> None:
    """The pool of the report is built once for each policy, and prints the same table each time."""
    report = choose_published("pool-policies")

    def run_of(policy: str, pool: float) -> AuthorOutput:
        path = tmp_path / f"bench-{policy}.tsv"
        header = "scenario\tallocator\tregion\tmedian_ns\n"
        lines = f"concurrent\tpool\talloc+free\t{pool}\nconcurrent\tmalloc\talloc+free\t40\n"
        path.write_text(header + lines)
        return read_author_output(path)

    outputs = [run_of("NONE", 9.0), run_of("MUTEX", 70.0), run_of("LOCKFREE", 42.0)]
    demand_figures(report, outputs)
    figures = AuthorFigures(report, outputs)
    table = next(table for table in report.tables if table.name == "threads")
    pools = [figures.figure(row.figures[0]).value for row in table.rows]
    assert pools == [9.0, 70.0, 42.0]
    assert [figures.figure(row.figures[1]).value for row in table.rows] == [40.0, 40.0, 40.0]
    assert figures.figure(table.rows[1].figures[2]).value == pytest.approx(40 / 70)


def test_whole_numbers_of_nanoseconds_stand_beside_a_size(tmp_path: Path) -> None:
    path = tmp_path / "faf.txt"
    path.write_text("TCMalloc   64 bytes   268435455 allocs   6 ns per alloc\n")
    report = choose_published("faf-allocator-bench")
    figures = AuthorFigures(report, [read_author_output(path)])
    row = next(row for row in report.tables[0].rows if row.title == "64")
    assert [figures.figure(figure).value for figure in row.figures[:3]] == [None, None, 6.0]


def test_a_rate_of_the_author_is_the_inverse_of_a_time(tmp_path: Path) -> None:
    outputs = [
        AuthorOutput(
            "/lab.json",
            [
                {"name": "BM_ILP_Dependent", "items_per_second": 5e8},
                {"name": "BM_ILP_Independent", "items_per_second": 2e9},
            ],
        )
    ]
    report = choose_published("latency-lab")
    conclusion = next(each for each in report.conclusions if "3.4 times" in each.says)
    judged = AuthorFigures(report, outputs).judge(conclusion)
    assert judged is not None
    assert judged.parts[0].value == pytest.approx(4.0)


def test_each_report_with_a_public_program_says_where_its_figures_are() -> None:
    """Each published figure that stands beside a single one of ours."""
    for name in ("latency-lab", "binary-trees", "pool-vs-malloc", "pool-policies"):
        missing = [
            figure
            for figure in choose_published(name).figures
            if figure.value is not None and figure.ours and figure.ours.value_of
            if figure.author is None
        ]
        assert missing == [], name
    places = [
        (figure.author.value, *sorted(figure.author.records.items()))
        for figure in choose_published("latency-lab").figures
        if figure.author
    ]
    assert len(places) == len(set(places)), "two rows read the same figure"
    assert find_published()[1] == []
