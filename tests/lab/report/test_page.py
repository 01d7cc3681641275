"""The page: self-contained, escaped, complete; the formats: as their readers expect them."""

from __future__ import annotations

import csv
import html.parser
import io
import itertools
import json
import re
import zlib
from base64 import b64decode
from dataclasses import replace

import msgspec
import pytest
from planted import with_facts
from synthetic import Script, changed, compare_run, pool_run
from synthetic_beside import with_rounds_beside

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import EnvironmentMarks, PlanOptions, Process, Run, Sample
from heapwise.report import View, build_page, redact
from heapwise.report.formats import find_formats
from heapwise.report.formats.csv_rows import number_text
from heapwise.report.page import section_modules
from heapwise.report.sections import answer
from heapwise.store import StoredRun
from heapwise.study.section import sections
from heapwise.wording.verbs import verb_names

RUNS = {"compare": compare_run(), "pool": pool_run(), "threads": pool_run(6, threads=[1, 4])}
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Balanced(html.parser.HTMLParser):
    """Every element that is opened is closed; remembers ids and addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if attributes.get("id"):
            self.ids.append(str(attributes["id"]))
        self.links += [str(attributes[a]) for a in ("href", "src") if attributes.get(a)]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parse(page: str) -> Balanced:
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    return parser


@pytest.mark.parametrize("name", RUNS)
def test_page_is_well_formed_and_asks_nothing_of_the_network(name: str) -> None:
    page = build_page([View(Evidence(RUNS[name]))])
    parsed = parse(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert all(link.startswith(("#", "data:")) for link in parsed.links)
    assert all(link[1:] in parsed.ids for link in parsed.links if link.startswith("#"))
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|https?://(?!www\.w3\.org)", page)


def test_the_first_screen_answers() -> None:
    page = build_page([View(Evidence(RUNS["compare"]))])
    head = page[: page.index('class="figure tradeoff"')]
    assert "Fastest: mimalloc, 10.0\N{NO-BREAK SPACE}% less time than glibc" in head
    assert "Trust: good" in head


def test_everything_foreign_is_escaped() -> None:
    bad = "<script>alert(1)</script>"
    stored = compare_run(
        Script(
            time={"glibc": 1.0, "glibc-control": 1.0, bad: 0.9},
            memory={"glibc": 1.0, "glibc-control": 1.0, bad: 0.9},
        )
    )
    plan = replace(stored.run.plan, command=["x", bad], environment={"A": bad})
    stored = replace(stored, run=replace(stored.run, plan=plan, command_line=["heapwise", bad]))
    page = build_page([View(Evidence(stored))])
    parse(page)
    assert bad not in page


def test_several_runs_in_one_page() -> None:
    first = RUNS["compare"]
    second = replace(RUNS["pool"], run=replace(RUNS["pool"].run, id="beef"))
    parsed = parse(build_page([View(Evidence(first)), View(Evidence(second))]))
    assert {"run-5a11", "run-beef"} <= set(parsed.ids)
    assert len(parsed.ids) == len(set(parsed.ids))
    with pytest.raises(ValueError, match="at least one run"):
        build_page([])


def test_the_data_inside_is_the_result() -> None:
    stored = RUNS["compare"]
    page = build_page([View(Evidence(stored))])
    texts = re.findall(r'<script type="application/zlib"[^>]*>(.*?)</script>', page, re.DOTALL)
    as_json, as_markdown = (zlib.decompress(b64decode(text)).decode() for text in texts)
    assert (as_json, as_markdown) == (written("json", stored), written("markdown", stored))
    assert json.loads(as_json)["advice"] == analyse(Evidence(stored)).advice


def test_a_page_holds_each_sample_once_as_a_number() -> None:
    stored = RUNS["compare"]
    page = build_page([View(Evidence(stored))])
    assert str(stored.samples[-1].values["wall_time"]) not in page


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5.0, "5"),
        (-0.25, "-0.25"),
        (18350080.0, "18350080"),
        (1e20, "100000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.000001, "0.000001"),
        (1.25e-7, "1.25e-7"),
        (5e-324, "5e-324"),
        (0.1 + 0.2, "0.30000000000000004"),
        (float("nan"), ""),
        (2.0**53, "9007199254740992"),
    ],
)
def test_numbers_in_csv_are_those_of_javascript(value: float, text: str) -> None:
    """The browser's own are compared with these in tests/e2e."""
    assert number_text(value) == text


def test_an_interrupted_run_with_a_crash_has_a_page_too() -> None:
    stored = compare_run(
        Script(
            edit=lambda p: (
                replace(p, status="crashed", reason="crashed (X)") if p.subject == "scudo" else p
            )
        )
    )
    stored = replace(stored, run=replace(stored.run, state="interrupted"), damaged_lines=3)
    page = build_page([View(Evidence(stored))])
    parse(page)
    assert "crashed (X) 14 of 14" in page
    assert "This run was interrupted" in page
    assert "3 damaged lines" in page
    parse(build_page([View(Evidence(replace(stored, processes=[], samples=[])))]))


def test_redacted_has_neither_host_nor_user_nor_paths() -> None:
    stored = RUNS["compare"]
    machine = replace(stored.run.machine, host="secrethost", user="alice")
    plan = replace(
        stored.run.plan,
        environment={"HOME": "/home/alice", "TOKEN": "abc123"},
        command=[
            "/home/alice/bin/server",
            "--config=/etc/secret/x.conf",
            "/opt/one:/opt/two/lib.so",
            "/home/alice/",
        ],
    )
    run = replace(
        stored.run,
        machine=machine,
        machine_after=machine,
        plan=plan,
        command_line=["heapwise", "compare", "--", *plan.command],
    )
    page = build_page([View(Evidence(redact(replace(stored, run=run))))])
    for secret in ("secrethost", "alice", "/home", "/etc/secret", "abc123", "/home/nobody", "/opt"):
        assert secret not in page
    assert "…/server" in page
    assert analyse(Evidence(redact(stored))).advice == analyse(Evidence(stored)).advice


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("/srv/shop/My Documents/secret plan.db", "…/secret plan.db"),
        ("not found: /srv/shop b/x y z/tool, and more", "not found: …/tool, and more"),
        ("/usr/bin/toy failed", "…/toy failed"),
        ("a: /one/two and /three/four", "a: …/two and …/four"),
        ("https://example.org/a b/c", "https://example.org/a b/c"),
    ],
)
def test_folders_with_spaces_in_their_names_are_redacted(text: str, clean: str) -> None:
    stored = RUNS["compare"]
    plan = replace(
        stored.run.plan,
        subjects=[replace(stored.run.plan.subjects[0], title=text), *stored.run.plan.subjects[1:]],
    )
    found = redact(replace(stored, run=replace(stored.run, plan=plan)))
    assert found.run.plan.subjects[0].title == clean


def test_redacted_has_no_argument_of_the_program_and_nothing_that_it_printed() -> None:
    stored = compare_run(
        Script(
            edit=lambda p: (
                replace(
                    changed(p, stderr_tail="no login for hunter2"),
                    status="crashed",
                    reason="crashed (X)",
                )
                if p.subject == "scudo"
                else p
            )
        )
    )
    command = ["server", "--password", "hunter2", "report"]
    plan = replace(
        stored.run.plan,
        command=command,
        options=PlanOptions(
            as_typed=command, environment_marks=EnvironmentMarks("k", {"HOME": "4711c0de"})
        ),
    )
    run = replace(
        stored.run, plan=plan, command_line=["heapwise", "compare", "--time", "9m", "--", *command]
    )
    clean = redact(replace(stored, run=run))
    assert clean.run.command_line == [
        "heapwise",
        "compare",
        "--time",
        "9m",
        "--",
        "server",
        *["(redacted)"] * 3,
    ]
    text = msgspec.json.encode([clean.run, clean.processes]).decode()
    for secret in ("--password", "hunter2", "4711c0de"):
        assert secret not in text + build_page([View(Evidence(clean))])


def test_sections_have_a_place_and_a_template() -> None:
    orders = [module.ORDER for module in section_modules()]
    assert orders == sorted(set(orders))
    told = sections()
    assert {"attacks", "gate", "server_windows"} <= {section.name for section in told}
    assert len({*orders, *(section.order for section in told)}) == len(orders) + len(told)
    assert all(module.__doc__ for module in section_modules())


def written(name: str, stored: StoredRun) -> str:
    text: str = find_formats()[name].write(View(Evidence(stored)))
    assert text.endswith("\n")
    return text


def test_there_are_the_formats_that_are_promised() -> None:
    assert set(find_formats()) == {
        "csv",
        "json",
        "markdown",
        "pull-request",
        "allocatorbench",
        "pool-vs-malloc",
        "binary-trees",
        "hyperfine",
        "google-benchmark",
        "bencher",
    }


def with_a_name(name: str) -> StoredRun:
    """A run in which somebody called an allocator so."""
    stored = compare_run()
    text = msgspec.json.encode([stored.run, stored.processes, stored.samples]).decode()
    run, processes, samples = msgspec.json.decode(
        text.replace('"scudo"', json.dumps(name)), type=tuple[Run, list[Process], list[Sample]]
    )
    return replace(stored, run=run, processes=processes, samples=samples)


@pytest.mark.parametrize("name", ["csv", "allocatorbench"])
def test_names_in_csv_are_not_formulas(name: str) -> None:
    evil = '=HYPERLINK("http:evil","x")'
    text = written(name, with_a_name(evil))
    cells = {cell for line in csv.reader(io.StringIO(text)) for cell in line}
    assert f"'{evil}" in cells
    assert not any(cell.startswith("=") for cell in cells)


def test_names_in_markdown_stay_text_in_their_cell() -> None:
    text = written("markdown", with_a_name("<script>|`x`"))
    assert "<script>" not in text
    lines = [line for line in text.splitlines() if line.startswith("| &lt;script>")]
    assert lines
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {9}
    assert "\\`x\\`" in lines[0]


def test_a_pull_request_has_a_sentence_a_table_and_the_command() -> None:
    text = written("pull-request", RUNS["compare"])
    sentence, _, head, _, *lines = text.splitlines()
    assert sentence.startswith("**")
    assert "heapwise resume" not in text
    assert head.split(" | ")[1:] == ["time", "vs glibc", "peak memory", "vs glibc |"]
    rows = list(itertools.takewhile(lambda line: line.startswith("|"), lines))
    assert len(rows) == 4
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {6}
    assert "control" not in text
    assert f"Heapwise {RUNS['compare'].run.version}; up to " in text
    assert "```sh\nheapwise compare" in text


def test_a_pull_request_of_a_busy_machine_has_the_time_that_its_sentence_is_of() -> None:
    """Separate processes could not be told apart, and processes side by side could."""
    names = ("glibc", "glibc-control", "mimalloc")
    script = Script(
        time=dict.fromkeys(names, 1.0) | {"mimalloc": 0.98},
        memory=dict.fromkeys(names, 1.0),
        noise=0.3,
    )
    ratios = {"glibc-control": 1.0, "mimalloc": 0.7}
    text = written("pull-request", with_rounds_beside(compare_run(script), ratios))
    head = next(line for line in text.splitlines() if line.startswith("|  |"))
    assert head.split(" | ")[1:3] == ["CPU time, side by side", "vs glibc"]
    [row] = [line for line in text.splitlines() if line.startswith("| mimalloc")]
    assert row.split(" | ")[1:3][1].endswith(")"), row
    assert "side by side" in text.splitlines()[0]


def test_names_in_a_pull_request_stay_text_in_their_cell() -> None:
    text = written("pull-request", with_a_name("<script>|`x`"))
    assert "<script>" not in text
    [line] = [line for line in text.splitlines() if line.startswith("| &lt;script>")]
    assert len(re.findall(r"(?<!\\)\|", line)) == 6


@pytest.mark.parametrize("name", RUNS)
def test_every_kind_of_run_has_a_pull_request(name: str) -> None:
    assert "| " in written("pull-request", RUNS[name])


def test_csv_has_every_sample() -> None:
    lines = list(csv.DictReader(io.StringIO(written("csv", RUNS["threads"]))))
    result = analyse(Evidence(RUNS["threads"]))
    assert len(lines) == len(result.rows)
    assert [float(v) for v in lines[0]["values"].split()] == result.rows[0].values
    assert {"threads", "block_size", "ratio_low"} <= lines[0].keys()


def test_the_form_of_the_published_report() -> None:
    lines = written("pool-vs-malloc", RUNS["pool"]).splitlines()
    table = [line.split("\t") for line in lines if not line.startswith("#")]
    assert table[0] == [
        "scenario",
        "allocator",
        "region",
        "min_ns/op",
        "median_ns/op",
        "mean_ns/op",
        "max_ns/op",
        "stddev_ns/op",
    ]
    assert all(len(line) == 8 for line in table)
    assert any(line.startswith("# headline: bulk alloc_fresh: malloc@glibc /") for line in lines)
    assert any(line.startswith("# config: block_size=64 repeats=10") for line in lines)


def test_hyperfine_form() -> None:
    results = json.loads(written("hyperfine", RUNS["compare"]))["results"]
    assert len(results) == 5
    for entry in results:
        assert {
            "command",
            "mean",
            "stddev",
            "median",
            "user",
            "system",
            "min",
            "max",
            "times",
            "exit_codes",
        } <= entry.keys()
        assert len(entry["times"]) == len(entry["exit_codes"]) == 14
        assert entry["min"] == min(entry["times"])
        assert entry["user"] > 0
    assert len({entry["command"] for entry in results}) == 5


@pytest.mark.parametrize("name", RUNS)
def test_google_benchmark_form(name: str) -> None:
    document = json.loads(written("google-benchmark", RUNS[name]))
    assert document["context"]["num_cpus"] == 2
    aggregates = [b for b in document["benchmarks"] if b["run_type"] == "aggregate"]
    singles = [b for b in document["benchmarks"] if b["run_type"] == "iteration"]
    assert {b["aggregate_name"] for b in aggregates} == {"mean", "median", "stddev"}
    for entry in [*aggregates, *singles]:
        assert entry["time_unit"] == "ns"
        assert entry["real_time"] >= 0
    medians = [b for b in aggregates if b["aggregate_name"] == "median"]
    first = medians[0]["run_name"]
    values = sorted(b["real_time"] for b in singles if b["run_name"] == first)
    assert values[0] <= medians[0]["real_time"] <= values[-1]


def test_google_benchmark_has_the_time_of_processors_that_was_measured() -> None:
    """The comparer of Google Benchmark passes over entries without one of these keys."""
    rows = {(row.subject, row.quantity): row for row in analyse(Evidence(RUNS["compare"])).rows}
    found = json.loads(written("google-benchmark", RUNS["compare"]))["benchmarks"]
    for subject in ("glibc", "mimalloc"):
        mine = [b for b in found if b["run_name"].startswith(f"compare/{subject}/")]
        assert [b["cpu_time"] / 1e9 for b in mine if b["run_type"] == "iteration"] == (
            pytest.approx(rows[subject, "cpu_time"].values)
        )
        median = next(b for b in mine if b.get("aggregate_name") == "median")
        assert median["cpu_time"] == pytest.approx(1e9 * (rows[subject, "cpu_time"].median or 0))
        assert median["cpu_time"] != median["real_time"]
        assert all("label" not in entry for entry in mine)


def test_google_benchmark_invents_no_time_of_processors() -> None:
    found = json.loads(written("google-benchmark", RUNS["pool"]))["benchmarks"]
    assert {(b["cpu_time"], b["label"]) for b in found} == {(0.0, "cpu_time was not measured")}


def test_markdown_has_a_table_per_quantity() -> None:
    text = written("markdown", RUNS["compare"])
    assert text.count("\n## ") == 4
    assert "| mimalloc | 14 |" in text
    assert "Trust: **good, unverified**" in text


def test_every_published_figure_stands_beside_ours_with_its_report() -> None:
    page = build_page([View(Evidence(pool_run(rounds=6)))])
    assert "compare ratios, not nanoseconds" in page
    for figure, name in (("6.857", "Pool against malloc"), ("11.8", "Policies of a pool")):
        cell = re.search(rf'<td title="([^"]*)">[^<]*{figure} \({name}\)', page)
        assert cell
        assert f"{name}; an i5" in cell[1].splitlines()
        assert re.search(rf"Published: [^<]*{name}; an i5", page)


def test_names_that_turn_the_order_of_words_are_shown_as_text_in_pages_and_tables() -> None:
    """A page obeys U+202E in a name, and shows the rest of its line from right to left."""
    name = "safe\u202egnp.exe\u2066"
    times = {"glibc": 1.0, "glibc-control": 1.0, name: 0.9}
    stored = compare_run(Script(time=times, memory=times))
    page = build_page([View(Evidence(stored))])
    for text in (page, written("markdown", stored), written("csv", stored)):
        assert "safe\\u202egnp.exe" in text
        assert "\u202e" not in text
        assert "\u2066" not in text
    # Data for programs keeps the name as it is: they compare it.
    assert name in {row["subject"] for row in json.loads(written("json", stored))["rows"]}


def test_a_command_of_each_verb_is_set_as_one() -> None:
    for verb in verb_names():
        words = f"heapwise {verb} app"
        assert f"<code>{words}</code>" in answer._with_commands(f"Try {words}.")
    assert "<code>" not in answer._with_commands("The allocator heapwise is smallest.")


def test_a_long_answer_is_a_headline_and_a_passage_below_it_that_begins_with_the_busy_machine() -> (
    None
):
    names = [f"gain{number}" for number in range(9)]
    time = {"glibc": 1.0, "glibc-control": 1.0} | dict.fromkeys(names, 0.8)
    script = Script(time=time, memory=dict.fromkeys(time, 1.0))
    stored = with_facts(
        compare_run(script), lambda p: {"psi_cpu_us": int(0.4e6 * (p.facts.wall_s or 0))}
    )
    view = View(Evidence(stored))
    headline, lead = answer.headline_and_lead(view)
    assert headline.startswith("Fastest: gain")
    assert len(headline) <= answer.HEADLINE
    assert lead.startswith("The machine was busy")
    assert sorted(f"{lead} {headline}".split()) == sorted(view.result.advice.split())
    page = build_page([view])
    assert page.index("Fastest: gain") < page.index('<p class="lead">The machine was busy')


def test_a_short_answer_is_a_headline_alone_and_no_number_is_parted_from_its_unit() -> None:
    view = View(Evidence(compare_run()))
    assert answer.headline_and_lead(view) == (view.result.advice, "")
    assert answer._with_commands("5.0 % less") == "5.0\N{NO-BREAK SPACE}% less"
