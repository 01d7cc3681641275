"""The real programs: their declarations, how a run is judged, and the page of results."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from world.environments import REGISTRIES, Environment
from world.judge import Judgement, judge, judge_plain
from world.page import page
from world.program import PROGRAMS, Program, all_programs, listed_packages, read_program
from world.results import Result, read_all, write
from world.run import Done, Place, prepare, run
from world.way import Way

USUAL = ("base", "peers", "tests", "trees")
NOWHERE = Place(Path("/nonexistent"))


def program(**keys: object) -> Program:
    return Program(**{"title": "t", "command": ["x"], "output": "^well$", "name": "p"} | keys)


def judged(way: Way, done: Done, place: Place = NOWHERE, **keys: object) -> Judgement:
    return judge(program(**keys), way, Done(0, "well\n", ""), done, place)


def packages(*lists: str) -> set[str]:
    return {line.partition(" ")[0] for name in lists for line in listed_packages(name)}


def needed(programs: list[Program]) -> set[str]:
    return {each.partition(" ")[0] for program in programs for each in program.packages}


def test_a_list_has_each_package_and_no_other() -> None:
    everything = needed(all_programs())
    assert everything <= packages(*USUAL, "world", "long-tests")
    assert packages("world") <= everything


def test_the_quick_programs_need_no_further_package() -> None:
    quick = [each for each in all_programs() if each.quick]
    assert len(quick) == 15
    assert needed(quick) <= packages(*USUAL)
    assert {each.origin for each in quick} == {"debian"}


def test_there_are_many_programs_of_each_registry() -> None:
    programs = all_programs()
    assert len(programs) >= 80
    assert {each.origin for each in programs} == {"debian", *(kind.value for kind in Environment)}
    assert {folder.name for folder in REGISTRIES.iterdir()} == {kind.value for kind in Environment}


def test_ways_that_fail_are_ways() -> None:
    ways = {way.value for way in Way}
    assert [each.name for each in all_programs() if not each.fails.keys() <= ways] == []
    verbs = {way.value for way in Way if way.is_verb}
    some = {each.name: each.refused for each in all_programs() if isinstance(each.refused, dict)}
    assert [name for name, refused in some.items() if not refused.keys() <= verbs] == []


@pytest.mark.parametrize(
    "text",
    [
        'titel = "x"',
        "title = 7",
        'title = "x"\ncommand = ["x"]\noutput = "x"\nrefused = "E999"',
        'title = "x"\ncommand = ["x"]\noutput = "x"\nrefused = { record = "E999" }',
    ],
)
def test_a_damaged_declaration_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"one\.toml"):
        read_program(path)


def test_the_plain_run_must_do_its_work() -> None:
    assert judge_plain(program(), Done(0, "well\n", "")).verdict == "pass"
    for done in (Done(1, "well\n", ""), Done(None, "well\n", ""), Done(0, "", "")):
        assert judge_plain(program(), done).verdict == "fail"
    assert judge_plain(program(exit=-6), Done(-6, "well\n", "")).verdict == "pass"


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (Done(0, "well\n", ""), ""),
        (Done(-11, "well\n", ""), "ended with -11"),
        (Done(None, "", ""), "hung"),
        (Done(0, "bad\n", ""), "'well' became 'bad'"),
        (Done(0, "well\n", "heapwise: invalid free of 0x1"), "complains"),
    ],
)
def test_a_preloaded_library_must_not_be_noticed(done: Done, words: str) -> None:
    found = judged(Way.GUARDED, done)
    assert (found.verdict == "fail") == bool(words)
    assert words in found.reason


def test_a_verb_ends_a_program_that_a_signal_ended_as_a_shell_does(tmp_path: Path) -> None:
    trace = tmp_path / "record" / "trace.hwt"
    trace.parent.mkdir()
    trace.write_text("x")
    assert judged(Way.RECORD, Done(134, "well\n", ""), Place(tmp_path), exit=-6).verdict == "pass"


@pytest.mark.parametrize("way", [Way.COUNT, Way.RECORD, Way.PROFILE])
def test_a_probe_must_see_calls(way: Way) -> None:
    assert "saw no call" in judged(way, Done(0, "well\n", "")).reason


REFUSED = Done(2, "", "error E020: p is statically linked\n  do: link it dynamically\n")


@pytest.mark.parametrize(
    ("refused", "verdict"), [("E020", "refused"), ("E021", "fail"), ("", "fail")]
)
def test_a_refusal_needs_the_true_reason(refused: str, verdict: str) -> None:
    assert judged(Way.COMPARE, REFUSED, refused=refused).verdict == verdict


def test_a_refusal_may_be_wanted_in_some_ways() -> None:
    some = {"record": "E020"}
    assert judged(Way.RECORD, REFUSED, refused=some).verdict == "refused"
    assert "refused by E020" in judged(Way.COMPARE, REFUSED, refused=some).reason
    assert judged(Way.COMPARE, Done(0, "", ""), refused=some).verdict == "pass"
    assert "was not refused" in judged(Way.RECORD, Done(0, "", ""), refused=some).reason


def test_the_end_of_a_program_comes_before_a_missing_refusal() -> None:
    found = judged(Way.RECORD, Done(139, "", "Ended by signal 11"), refused="E020")
    assert found.reason.startswith("it ended with 139 and was not refused by E020")


def test_a_program_that_must_be_refused_is_not_measured() -> None:
    found = judged(Way.COMPARE, Done(0, "", ""), refused="E020")
    assert (found.verdict, "not refused" in found.reason) == ("fail", True)
    assert judged(Way.DEFAULT, Done(0, "well\n", ""), refused="E020").verdict == "pass"


@pytest.mark.parametrize(
    ("status", "verdict"), [(0, "pass"), (4, "pass"), (3, "fail"), (70, "fail")]
)
def test_a_comparison_may_be_too_noisy(status: int, verdict: str) -> None:
    assert judged(Way.COMPARE, Done(status, "", "")).verdict == verdict


def test_a_run_ends_at_its_limit_with_all_that_it_started(tmp_path: Path) -> None:
    slow = program(
        command=["bash", "{files}/slow.sh"],
        limit_s=2,
        files={"slow.sh": "sleep 60 & echo $! >pid; wait"},
    )
    place = Place(tmp_path)
    assert prepare(slow, place).status == 0
    assert run(slow, Way.PLAIN, place, tmp_path).status is None
    pid = (tmp_path / "plain" / "work" / "pid").read_text().strip()
    # A signal was sent; the kernel ends the process when it next has a processor.
    give_up = time.monotonic() + 20
    while _runs(pid):
        assert time.monotonic() < give_up
        time.sleep(0.01)


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except OSError:
        return False


def test_output_that_varies_is_replaced(tmp_path: Path) -> None:
    one = program(
        command=["bash", "-c", "echo took 7 ms; pwd"],
        varies=[{"pattern": r"\d+ ms", "instead": "N ms"}],
    )
    place = Place(tmp_path)
    prepare(one, place)
    again = read_again(one)
    assert run(again, Way.PLAIN, place, tmp_path).out == "took N ms\n{work}\n"


def read_again(one: Program) -> Program:
    """As it comes from a file, with its types."""
    import msgspec

    return msgspec.convert(msgspec.to_builtins(one), Program)


def test_the_page_has_a_cell_for_each_way(tmp_path: Path) -> None:
    for way, judgement in (
        (Way.PLAIN, Judgement("pass")),
        (Way.DEFAULT, Judgement("fail", "it ended with -6: a|b")),
        (Way.COMPARE, Judgement("refused", "E020: /tmp/x/p is statically linked")),
        (Way.COUNT, Judgement("not run", "not installed")),
    ):
        write(Result("p", way, judgement), tmp_path)
    text = page([program()], read_all(tmp_path))
    assert "| p | t | pass | **fail** | - | - | - | - | - | refused |" in text
    assert "Programs: 1. Runs: pass: 1, refused: 1, fail: 1." in text
    assert "- `p` (compare): `E020: p is statically linked`" in text
    assert "- `p` (default): `it ended with -6: a|b`" in text


def test_each_declaration_is_one_of_the_folder() -> None:
    assert {each.name for each in all_programs()} == {path.stem for path in PROGRAMS.iterdir()}
