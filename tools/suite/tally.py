"""Counts of tests, and how JUnit files are read into them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

REASON_LINES, REASON_WIDTH = 6, 200

TELLING = re.compile(
    r"\bERROR\b|^\s*(values|logged): |Sanitizer: |: runtime error: |^\s+#[01] "
    r"|\bAssertion .* failed|\bterminate called|^\s+what\(\): "
)
"""Lines of doctest, of sanitizers, of the C and the C++ library that say what went wrong."""

CASES = re.compile(r"^\[doctest\] test cases: *(\d+) \| *(\d+) passed", re.MULTILINE)
"""One test of ctest may be many cases of doctest, or none, if the name it chooses by is wrong."""


@dataclass(frozen=True)
class Tally:
    """How many tests passed and were skipped, and the names of those that failed, with the first
    words of why.

    unchanged: how many of those that passed did so in an earlier run, and were not run again.
    """

    passed: int = 0
    skipped: int = 0
    failures: tuple[str, ...] = ()
    unchanged: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.passed + other.passed,
            self.skipped + other.skipped,
            self.failures + other.failures,
            self.unchanged + other.unchanged,
        )

    @property
    def failed(self) -> int:
        return len(self.failures)

    def closing_line(self) -> str:
        """``12 passed, 0 failed``, and the skipped and unchanged ones if there are any."""
        line = f"{self.passed} passed, {self.failed} failed"
        if self.skipped:
            line += f", {self.skipped} skipped"
        if self.unchanged:
            line += f" ({self.unchanged} unchanged since they passed)"
        return line


def outcome(case: ET.Element) -> str:
    """PASSED, FAILED or SKIPPED for one ``testcase`` of pytest or ctest.

    ctest calls a program that it could not find "notrun" and marks it as skipped; only what a test
    itself or its author asked for (``SKIP_...``, ``Disabled``) is a skip here. A program of doctest
    that ran none of its cases tested nothing.
    """
    if case.find("failure") is not None or case.find("error") is not None:
        return FAILED
    status = case.get("status", "run")
    if status == "disabled":
        return SKIPPED
    skipped = case.find("skipped")
    if status == "notrun":
        reason = skipped.get("message", "") if skipped is not None else ""
        return SKIPPED if reason.startswith("SKIP_") else FAILED
    if status not in {"run", "passed"}:
        return FAILED
    if skipped is not None:
        return SKIPPED
    said = CASES.search(case.findtext("system-out") or "")
    return FAILED if said and said[1] == "0" else PASSED


def passed_cases(case: ET.Element) -> int:
    """How many cases a test that passed was: as many as doctest says, else one."""
    said = CASES.search(case.findtext("system-out") or "")
    return int(said[2]) if said else 1


def name_of(case: ET.Element) -> str:
    """pytest splits a name in two, ctest gives it twice."""
    group, name = case.get("classname", ""), case.get("name", "?")
    return name if group in {"", name} else f"{group}::{name}"


def reason_of(case: ET.Element) -> str:
    """The first words of why a test failed: of pytest's message, or of what a test of ctest
    printed. A log of a long run may be cut off or gone when someone reads the end."""
    for kind in ("failure", "error"):
        if (found := case.find(kind)) is not None and found.get("message", "").strip():
            lines = found.get("message", "").strip().splitlines()[:REASON_LINES]
            break
    else:
        lines = telling_lines(case.findtext("system-out") or "")
    return "".join(f"\n        {line.strip()[:REASON_WIDTH]}" for line in lines if line.strip())


def telling_lines(output: str) -> list[str]:
    """The first lines that say what failed, or else the last ones: doctest ends with counts."""
    lines = output.strip().splitlines()
    telling = [line for line in lines if TELLING.search(line)]
    return telling[:REASON_LINES] or lines[-REASON_LINES:]


def read_junit(path: Path, part: str) -> Tally:
    """The tally of one JUnit file; one failure when it is missing, broken or empty."""
    try:
        cases = list(ET.parse(path).iter("testcase"))
    except (OSError, ET.ParseError) as error:
        return Tally(failures=(f"{part}: no results ({error})",))
    if not cases:
        return Tally(failures=(f"{part}: ran no tests",))
    outcomes = [(outcome(case), case) for case in cases]
    return Tally(
        passed=sum(passed_cases(case) for kind, case in outcomes if kind == PASSED),
        skipped=sum(kind == SKIPPED for kind, _ in outcomes),
        failures=tuple(
            f"{part}: {name_of(case)}{reason_of(case)}" for kind, case in outcomes if kind == FAILED
        ),
    )
