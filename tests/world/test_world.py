"""Real programs do the same in every way in which Heapwise takes part, or are refused truly."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared import result_once

from heapwise.catalog import native_folder
from world.judge import Judgement, judge, judge_plain
from world.program import PROGRAMS, Program, all_programs
from world.results import Result, write
from world.run import Done, Place, prepare, run
from world.way import Way

WITH_HEAPWISE = [way for way in Way if way is not Way.PLAIN]


def cases(ways: list[Way]) -> list[object]:
    """Each program in each of the ways; those that are not quick are for `make test-long`."""
    return [
        pytest.param(
            program,
            way,
            id=f"{program.name}-{way.value}",
            marks=() if program.quick else pytest.mark.long,
        )
        for program in all_programs()
        for way in ways
    ]


def finish(program: Program, way: Way, judgement: Judgement) -> None:
    """Keeps the result for the page, and fails or skips the test."""
    write(Result(program.name, way, judgement))
    if judgement.verdict == "not run":
        (pytest.fail if program.quick else pytest.skip)(judgement.reason)
    if known := program.fails.get(way.value):
        assert judgement.verdict == "fail", f"it passes now; take {way.value} out of `fails`"
        pytest.xfail(known)
    assert judgement.verdict != "fail", f"{program.title}: {judgement.reason}"


def demand(program: Program, way: Way) -> None:
    """Ends the test if something is not installed."""
    if lacking := program.lacking():
        reason = f"not installed: {', '.join(lacking)}. Run tools/setup --long-tests"
        finish(program, way, Judgement("not run", reason))


def plain_run(program: Program, factory: pytest.TempPathFactory) -> tuple[Place, Done]:
    """Of the first test that needs it, for all tests of the program."""

    def work(folder: Path) -> tuple[Place, Done]:
        place = Place(folder)
        prepared = prepare(program, place)
        if prepared.status != 0:
            return place, prepared
        return place, run(program, Way.PLAIN, place, native_folder())

    return result_once(factory, f"world-{program.name}", work)


@pytest.mark.parametrize(("program", "way"), cases([Way.PLAIN]))
def test_the_program_works_without_heapwise(
    program: Program, way: Way, tmp_path_factory: pytest.TempPathFactory
) -> None:
    demand(program, way)
    _, done = plain_run(program, tmp_path_factory)
    finish(program, way, judge_plain(program, done))


@pytest.mark.parametrize(("program", "way"), cases(WITH_HEAPWISE))
def test_the_program_does_the_same(
    program: Program, way: Way, tmp_path_factory: pytest.TempPathFactory
) -> None:
    demand(program, way)
    place, plain = plain_run(program, tmp_path_factory)
    if judge_plain(program, plain).verdict != "pass":
        pytest.skip("the program does not work without Heapwise")
    done = run(program, way, place, native_folder())
    finish(program, way, judge(program, way, plain, done, place))


def test_all_declarations_are_read() -> None:
    assert {path.stem for path in PROGRAMS.iterdir()} == {each.name for each in all_programs()}
