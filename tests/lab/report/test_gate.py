"""The forms in which a gate says what it found."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from heapwise.analysis.gate import exit_code, identical_result
from heapwise.model import GateResult, GateRow, GrownSite, GrownSites
from heapwise.report.gate import FORMS, suffix_of, text

SCHEMA = Path(__file__).resolve().parents[2] / "data" / "sarif" / "sarif-schema-2.1.0.json"

TIME = GateRow(
    "time",
    "s",
    0.03,
    False,
    "regressed",
    "Time regressed: 9 % | <b>.",
    1.0,
    1.09,
    0.09,
    0.08,
    0.1,
    0.01,
    6,
    confirmed=True,
)
COUNT = GateRow("allocations", "count", 0.0, True, "fine", "Allocations are fine.", 5.0, 5.0, 0.0)
MEMORY = GateRow(
    "peak_memory",
    "bytes",
    0.05,
    False,
    "cannot tell",
    "Cannot \x1b be told.",
    1e6,
    1e6,
    0.0,
    -0.1,
    0.1,
    0.2,
    6,
    too_noisy=True,
)

GATE = GateResult("base", "new", "regressed", 1, [TIME, COUNT, MEMORY], "7f3a", program="app|1")
GROWN = replace(
    GATE,
    rows=[TIME, replace(COUNT, verdict="regressed", new=9.0)],
    grown=GrownSites([GrownSite("main|2 (a.c:7)", 4, -64, True, "src/a b.c", 7)]),
)
UNKNOWN = replace(GROWN, grown=GrownSites(unknown="no trace"))
SAME = identical_result("base", "new", {"time": 0.03}, "they are one file", "app")


@pytest.mark.parametrize("gate", [GATE, SAME, GROWN, UNKNOWN])
def test_sarif_satisfies_the_schema_of_oasis(gate: GateResult) -> None:
    document = json.loads(text(gate, ".sarif"))
    validator = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert [error.message for error in validator.iter_errors(document)] == []


def test_sarif_has_a_failure_for_each_regression_alone() -> None:
    results = json.loads(text(GATE, ".sarif"))["runs"][0]["results"]
    assert [(r["ruleId"], r["kind"], r["level"]) for r in results] == [
        ("limit/time", "fail", "error"),
        ("limit/allocations", "pass", "none"),
        ("limit/peak_memory", "review", "none"),
    ]


def test_each_result_of_sarif_is_in_a_file_of_the_repository() -> None:
    """Code scanning refuses a whole document with a result that is in none."""
    for gate, uri in ((GATE, "app%7C1"), (replace(GATE, location="build/a b"), "build/a%20b")):
        for result in json.loads(text(gate, ".sarif"))["runs"][0]["results"]:
            [location] = result["locations"]
            assert location["physicalLocation"] == {
                "artifactLocation": {"uri": uri},
                "region": {"startLine": 1},
            }


def test_junit_counts_failures_and_skips() -> None:
    suite = Xml.fromstring(text(GATE, ".xml"))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    failed = suite.find("testcase[@name='time']/failure")
    assert failed is not None
    assert failed.get("message") == TIME.sentence
    skipped = suite.find("testcase[@name='peak_memory']/skipped")
    assert skipped is not None
    assert skipped.get("message") == "Cannot ? be told."


def test_markdown_keeps_what_names_hold_in_their_cell() -> None:
    lines = text(GATE, ".md").splitlines()
    row = next(line for line in lines if line.startswith("| time"))
    assert row == "| time | 3 % | 1.00 s | 1.09 s | +8.0 to +10.0 % | ±1.0 % | regressed |"
    assert "- Time regressed: 9 % \\| &lt;b>." in lines
    assert "they are one file" in text(SAME, ".md")


def test_markdown_calls_only_counts_exact() -> None:
    """A peak memory of one round, before there is an interval, is one sample."""
    few = replace(MEMORY, low=None, high=None, base=8_600_000.0, new=8_540_000.0)
    fewer = replace(COUNT, new=3.0, change=-0.4)
    uneven = replace(COUNT, exact=False, new=7.0)
    lines = text(replace(GATE, rows=[few, fewer, uneven]), ".md").splitlines()
    cells = [
        [cell.strip() for cell in line.split("|")][5]
        for line in lines
        if line.startswith(("| peak_memory", "| allocations"))
    ]
    assert cells == ["–", "−2 (exact)", "+2"]


def test_bencher_has_the_value_of_the_new_build_with_its_interval() -> None:
    found = json.loads(text(GATE, ".bmf.json"))["app|1"]
    assert found["latency"]["value"] == pytest.approx(1.09e9)
    assert found["latency"]["lower_value"] == pytest.approx(1.08e9)
    assert found["allocations"] == {"value": 5.0}
    assert json.loads(text(SAME, ".bmf.json")) == {}


def test_names_choose_the_form() -> None:
    assert [suffix_of(name) for name in ("a.xml", "b.sarif", "c.md", "d.bmf.json", "e.json")] == [
        ".xml",
        ".sarif",
        ".md",
        ".bmf.json",
        "",
    ]
    assert all(text(GATE, suffix).endswith("\n") for suffix in FORMS)


def test_exit_codes() -> None:
    untold = replace(MEMORY, too_noisy=False)
    assert exit_code([TIME, MEMORY], strict=True) == 1
    assert exit_code([COUNT, MEMORY], strict=False) == 4
    assert exit_code([COUNT, untold], strict=False) == 0
    assert exit_code([COUNT, untold], strict=True) == 4
    assert exit_code([COUNT], strict=True) == 0


def test_sarif_puts_a_count_at_the_line_that_allocates_more() -> None:
    time, count = json.loads(text(GROWN, ".sarif"))["runs"][0]["results"]
    assert "relatedLocations" not in time
    place = {"artifactLocation": {"uri": "src/a%20b.c"}, "region": {"startLine": 7}}
    [related] = count["relatedLocations"]
    assert [count["locations"][0]["physicalLocation"], related["physicalLocation"]] == [place] * 2
    assert related["message"]["text"] == "More by about +4 blocks, −64 B: main|2 (a.c:7)"
    time, count = json.loads(text(UNKNOWN, ".sarif"))["runs"][0]["results"]
    assert "relatedLocations" not in count
    assert count["locations"] == time["locations"]


def test_markdown_lists_the_call_sites_or_says_why_there_are_none() -> None:
    lines = text(GROWN, ".md").splitlines()
    assert "- about +4 blocks, −64 B: main\\|2 (a.c:7)" in lines
    assert "Call sites that allocate more are not known: no trace." in text(UNKNOWN, ".md")
