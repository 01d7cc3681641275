"""A command that is forked does what one that is started does."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from warm_start import WarmStart, command

WAIT = ("compare", "--allocators", "jemalloc", "--time", "60s", "--", "sleep", "1")


@pytest.fixture
def starter(environment: dict[str, str]) -> Iterator[WarmStart]:
    starter = WarmStart(environment)
    yield starter
    starter.close()


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("list", "--help"), 0),
        (("--store", "a b", "list", "--json"), 2),
        (("lst", "--json"), 2),
        (("explain", "E003"), 0),
        (("report", "--list"), 0),
        (("report", "\udcff"), 2),
    ],
)
def test_it_says_the_same(
    warm_start: WarmStart,
    environment: dict[str, str],
    tmp_path: Path,
    words: tuple[str, ...],
    status: int,
) -> None:
    started = WarmStart(environment).run(words, environment, tmp_path, 60)  # of this verb the first
    before = warm_start.forks
    for _ in range(2):  # the second is certainly forked
        forked = warm_start.run(words, environment, tmp_path, 60)
    assert warm_start.forks > before
    assert vars(started) == vars(forked)
    assert started.returncode == status
    assert started.stdout or started.stderr


def test_each_call_has_its_own_variables_and_folder(
    warm_start: WarmStart, environment: dict[str, str], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "heapwise.toml").write_text("what = 1\n")
    before = warm_start.forks
    said = [
        warm_start.run(("report", "--list"), environment | more, folder, 60)
        for more, folder in (
            ({}, tmp_path),
            ({"HEAPWISE_OPEN": "perhaps"}, tmp_path),
            ({}, elsewhere),
            ({}, tmp_path),
        )
    ]
    assert [each.returncode for each in said] == [0, 2, 2, 0]
    assert "--open perhaps" in said[1].stderr
    assert str(elsewhere) in said[2].stderr.replace("\n      ", "")
    assert vars(said[0]) == vars(said[3])
    assert warm_start.forks - before >= 3


def test_the_first_call_of_a_verb_is_that_of_any_process_of_the_tests(
    environment: dict[str, str], tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    starters = [WarmStart(environment, shared) for _ in range(2)]
    said = [starter.run(("list", "--help"), environment, tmp_path, 60) for starter in starters]
    assert [starter.forks for starter in starters] == [0, 1]
    assert vars(said[0]) == vars(said[1])
    for starter in starters:
        starter.close()


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("PYTHONWARNINGS", "LC_ALL", "FORCE_COLOR", "TERM")
        ),
    ],
)
def test_a_variable_read_at_the_start_needs_a_process_of_its_own(
    starter: WarmStart, environment: dict[str, str], tmp_path: Path, name: str
) -> None:
    for more in ({}, {}, {name: ""}):
        starter.run(("--version",), environment | more, tmp_path, 60)
    assert starter.forks == 1


def test_a_command_that_takes_too_long_is_ended(
    warm_start: WarmStart, environment: dict[str, str], tmp_path: Path
) -> None:
    warm_start.run(("compare", "--help"), environment, tmp_path, 60)
    before = warm_start.forks
    with pytest.raises(subprocess.TimeoutExpired) as late:
        warm_start.run(WAIT, environment, tmp_path, 2)
    assert late.value.cmd == command(WAIT)
    assert warm_start.forks == before + 1
    assert warm_start.run(("compare", "--help"), environment, tmp_path, 60).returncode == 0


def test_a_loaded_process_that_fails_says_why(environment: dict[str, str], tmp_path: Path) -> None:
    environment = {**environment, "PYTHONPATH": str(tmp_path)}
    starter = WarmStart(environment)
    (tmp_path / "heapwise.py").write_text("raise OSError('not today')\n")
    assert starter.run(("--version",), environment, tmp_path, 60).returncode == 1
    with pytest.raises(RuntimeError, match="not today"):
        starter.run(("--version",), environment, tmp_path, 60)


def test_closing_ends_the_loaded_process(environment: dict[str, str], tmp_path: Path) -> None:
    starter = WarmStart(environment)
    for _ in range(2):
        starter.run(("--version",), environment, tmp_path, 60)
    assert starter.process is not None
    starter.close()
    with pytest.raises(ProcessLookupError):
        os.kill(starter.process.pid, 0)
