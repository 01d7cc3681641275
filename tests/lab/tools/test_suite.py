"""The count of `make test` is honest: what did not run, or ended badly, has failed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from suite.part import Part, run_part
from suite.tally import Tally, read_junit

PYTEST = """\
<testsuites><testsuite name="pytest">
<testcase classname="a" name="passes"/>
<testcase classname="a" name="fails"><failure message="no"/></testcase>
<testcase classname="a" name="breaks"><error message="no"/></testcase>
<testcase classname="a" name="waits"><skipped message="later"/></testcase>
</testsuite></testsuites>
"""
CTEST = """\
<testsuite name="dev">
<testcase name="runs" classname="runs" status="run"/>
<testcase name="fails" classname="fails" status="fail"><failure message="x"/></testcase>
<testcase name="gone" classname="gone" status="notrun">
<skipped message="Unable to find"/></testcase>
<testcase name="off" classname="off" status="disabled"><skipped message="Disabled"/></testcase>
<testcase name="not_now" classname="not_now" status="notrun">
<skipped message="SKIP_RETURN_CODE=77"/></testcase>
</testsuite>
"""


def test_pytest_file(tmp_path: Path) -> None:
    (tmp_path / "it.xml").write_text(PYTEST)
    assert read_junit(tmp_path / "it.xml", "lab") == Tally(
        1, 1, ("lab: a::fails\n        no", "lab: a::breaks\n        no")
    )


DOCTEST = """\
[doctest] doctest version is "2.4.9"
[doctest] run with "--help" for options
===============================================================================
/tree/tests/unit/heap/clock_test.cpp:52:
TEST CASE:  what lies in the caches of threads

/tree/tests/unit/heap/clock_test.cpp:67: ERROR: CHECK( after &lt; before ) is NOT correct!
  values: CHECK( 4096 &lt;  4096 )
  logged: round 3

===============================================================================
[doctest] test cases: 1 | 0 passed | 1 failed | 9 skipped
[doctest] assertions: 1 | 0 passed | 1 failed |
[doctest] Status: FAILURE!
"""
SANITIZER = """\
[doctest] doctest version is "2.4.9"
=================================================================
==77==ERROR: AddressSanitizer: heap-use-after-free on address 0x60200
READ of size 1 at 0x60200 thread T0
    #0 0x55 in first /tree/a.cpp:3:9
    #1 0x56 in second /tree/a.cpp:9:3
    #2 0x57 in main /tree/a.cpp:12:1
"""


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (
            DOCTEST,
            (
                "/tree/tests/unit/heap/clock_test.cpp:67: ERROR: CHECK( after < before ) is NOT"
                " correct!",
                "values: CHECK( 4096 <  4096 )",
                "logged: round 3",
            ),
        ),
        (
            SANITIZER,
            (
                "==77==ERROR: AddressSanitizer: heap-use-after-free on address 0x60200",
                "#0 0x55 in first /tree/a.cpp:3:9",
                "#1 0x56 in second /tree/a.cpp:9:3",
            ),
        ),
        ("one\ntwo\nstopped after 60 s", ("one", "two", "stopped after 60 s")),
    ],
)
def test_the_reason_is_what_a_test_of_ctest_said_of_its_failure(
    tmp_path: Path, printed: str, told: tuple[str, ...]
) -> None:
    """And not its last lines, which are counts."""
    (tmp_path / "it.xml").write_text(
        f'<testsuite><testcase name="t" status="fail"><failure message=""/>'
        f"<system-out>{printed}</system-out></testcase></testsuite>"
    )
    [failure] = read_junit(tmp_path / "it.xml", "dev").failures
    assert failure.splitlines() == ["dev: t", *(f"        {line}" for line in told)]


def test_ctest_file_counts_a_program_that_is_gone_as_failed(tmp_path: Path) -> None:
    (tmp_path / "it.xml").write_text(CTEST)
    failures = ("dev: fails\n        x", "dev: gone")
    assert read_junit(tmp_path / "it.xml", "dev") == Tally(1, 2, failures)


def test_a_program_of_many_cases_counts_as_many(tmp_path: Path) -> None:
    """One that failed is one failure: its cases are in its reason."""
    said = "[doctest] test cases:  240 |  239 passed | {} failed | 1 skipped"
    (tmp_path / "it.xml").write_text(
        f'<testsuite><testcase name="a" status="run"><system-out>{said.format(0)}</system-out>'
        f'</testcase><testcase name="b" status="fail"><failure/><system-out>{said.format(1)}'
        f"</system-out></testcase></testsuite>"
    )
    tally = read_junit(tmp_path / "it.xml", "dev")
    assert (tally.passed, tally.failed) == (239, 1)


def test_a_program_that_runs_no_case_has_failed(tmp_path: Path) -> None:
    (tmp_path / "it.xml").write_text(
        '<testsuite><testcase name="a" status="run"><system-out>[doctest] test cases: 0 | 0 passed '
        "| 0 failed | 5 skipped</system-out></testcase></testsuite>"
    )
    assert read_junit(tmp_path / "it.xml", "dev").failed == 1


@pytest.mark.parametrize("content", [None, "", "<testsuite", "<testsuite/>"])
def test_no_results_are_a_failure(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "it.xml"
    if content is not None:
        path.write_text(content)
    assert read_junit(path, "part").failed == 1


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", Tally(passed=1)),
        ("raise SystemExit(3)", Tally(failures=("it: exit status 3",))),
        ("import time; time.sleep(60)", Tally(failures=("it: stopped after 1 s",))),
    ],
)
def test_a_command_is_one_test(tmp_path: Path, code: str, expected: Tally) -> None:
    part = Part("it", [sys.executable, "-c", code], timeout_s=1 if "sleep" in code else 60)
    assert run_part(part, tmp_path) == expected


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    tally = run_part(Part("it", [str(tmp_path / "gone")]), tmp_path)
    assert tally.failed == 1
    assert tally.passed == 0


def test_results_of_an_earlier_run_do_not_count(tmp_path: Path) -> None:
    old = tmp_path / "it.xml"
    old.write_text('<testsuite><testcase name="a"/></testsuite>')
    assert run_part(Part("it", [sys.executable, "-c", ""], old), tmp_path).failed == 1


def test_a_bad_end_after_good_results_is_a_failure(tmp_path: Path) -> None:
    results = tmp_path / "it.xml"
    good = '<testsuite><testcase name="a"/></testsuite>'
    code = f"open({str(results)!r}, 'w').write({good!r}); raise SystemExit(1)"
    tally = run_part(Part("it", [sys.executable, "-c", code], results), tmp_path)
    assert tally == Tally(passed=1, failures=("it: exit status 1",))


def test_closing_line() -> None:
    assert Tally(3).closing_line() == "3 passed, 0 failed"
    assert Tally(3, 1, ("a", "b")).closing_line() == "3 passed, 2 failed, 1 skipped"


def test_time_of_processors_is_shown_beside_elapsed_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that its command starts and waits for counts too."""
    busy = "import time\nwhile time.process_time() < 0.6: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    assert run_part(Part("it", [sys.executable, "-c", code]), tmp_path) == Tally(passed=1)
    shown = re.search(r"\((\d+) s, of processors (\d+) s\)", capsys.readouterr().out)
    assert shown is not None
    assert int(shown[2]) >= 1
