"""The programs with planted sites, and which advice about them is right."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from planted_sites.advice import Advice, first_gain, is_right
from planted_sites.programs import PROGRAMS, SOURCES, Planted, build, is_planted

from heapwise.catalog import DRAIN, RECORDER, native_part
from heapwise.trace import open_trace
from heapwise.trace.candidates import find_candidates
from heapwise.trace.contents import read_contents
from heapwise.trace.names.symbols import Symbols


def candidates(program: Path, folder: Path, steps: int) -> list[tuple[str, list[str]]]:
    """Policy and places of each, with most blocks first."""
    trace = folder / "planted.hwt"
    subprocess.run(
        [
            str(native_part(DRAIN)),
            "-o",
            str(trace),
            "--recorder",
            str(native_part(RECORDER)),
            "--",
            str(program),
            str(steps),
        ],
        check=True,
        timeout=120,
    )
    with open_trace(trace) as opened:
        found, _ = find_candidates(opened, read_contents(opened))
        symbols = Symbols(opened.modules)
        addresses = [[opened.site_address(site) for site in each.sites] for each in found]
        symbols.learn(address for each in addresses for address in each if address is not None)
        return [
            (each.policy, [str(symbols.place(a)) for a in places if a is not None])
            for each, places in zip(found, addresses, strict=True)
        ]


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_the_planted_site_is_a_candidate(program: Planted, tmp_path: Path) -> None:
    found = candidates(build(program.name, tmp_path, changed=False), tmp_path, 40_000)
    if program.policy:
        assert [
            each
            for each in found
            if each[0] == program.policy and any(is_planted(place, program) for place in each[1])
        ], found
    elif program.name != "short_threads":  # whose pool is a candidate, which costs time
        assert not found


def test_there_are_ten_programs_and_each_has_its_source() -> None:
    assert len(PROGRAMS) == 10
    assert {file.stem for file in SOURCES.glob("*.cpp")} == {each.name for each in PROGRAMS}


PARSER = next(each for each in PROGRAMS if each.name == "parser")
COMPUTE = next(each for each in PROGRAMS if each.name == "compute")


def test_right_is_the_planted_policy_at_the_planted_place() -> None:
    assert is_right(PARSER, Advice("arena", "parse (parser.cpp:3)", 0.01))
    assert not is_right(PARSER, Advice("sized", "parse (parser.cpp:3)", 0.01))
    assert not is_right(PARSER, Advice("arena", "main (parser.cpp:9)", 0.01))
    assert is_right(COMPUTE, Advice("", "", 0.0))
    assert not is_right(COMPUTE, Advice("arena", "parse (parser.cpp:3)", 0.01))


def test_the_first_advice_is_read_from_the_result() -> None:
    each = {"subject": "candidate_1", "place": "f (a.cpp:1)", "policy": "arena", "others": ["g"]}
    names = {"as_recorded": 10.0, "candidate_1": 8.0}
    found = {
        "advice": "1 of 1 candidates gains time, in the replay.",
        "headlines": ["f (a.cpp:1) and g: an arena saves"],
        "run": {
            "plan": {
                "options": {"replay": {"quantity": "time", "calls": 1000, "candidates": [each]}}
            }
        },
        "rows": [
            {
                "subject": name,
                "parameters": {"quantity": "time"},
                "median": median,
                "ratio": median / 10,
            }
            for name, median in names.items()
        ],
    }
    first = first_gain(found)
    assert (first.policy, first.place) == ("arena", "f (a.cpp:1) and g")
    assert first.seconds == pytest.approx(2e-6)
    assert first_gain({"advice": "Nothing to gain: no"}).policy == ""
