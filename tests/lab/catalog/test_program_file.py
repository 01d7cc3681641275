"""``programs/<name>/program.toml``: what is declared, what is here, and how to get the rest."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from heapwise.catalog.program_experiments import read_program_experiment
from heapwise.catalog.program_file import find_wheels, read_programs
from heapwise.errors import Problem
from heapwise.model import PROGRAM

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "programs"
LEAST = 10
RL = "heap/rl_programs"

TOY = """
title = "t"
package = "toy"
executables = ["{}"]
version = []
command = ["sh"]
"""


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEAPWISE_PROGRAMS", str(PROGRAMS))


def toys(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "toy").mkdir()
    (folder / "toy" / "program.toml").write_text(text)
    monkeypatch.setenv("HEAPWISE_PROGRAMS", str(folder))


def test_every_program_is_whole() -> None:
    programs = read_programs()
    assert len(programs) >= LEAST
    everything = [*programs, *read_programs(RL)]
    assert sorted(p.name for p in everything) == folders()
    for program in programs:
        words = [*program.prepare, *program.command, program.check]
        for name in re.findall(r"\{source\}/(\S+)", " ".join(words)):
            assert (PROGRAMS / program.name / name).is_file(), name
        assert set(re.findall(r"\{([a-z]+)\}", " ".join(words))) <= program.places.keys()
        assert program.ask_version, program.name
        assert program.environment_prefixes or program.name in ("redis", "sqlite3")


def folders() -> list[str]:
    return sorted(
        path.name for path in PROGRAMS.iterdir() if path.name != "__pycache__" and path.is_dir()
    )


def test_programs_of_reinforcement_learning_and_inference_are_whole() -> None:
    programs = read_programs(RL)
    assert len(programs) >= LEAST
    for program in programs:
        words = [*program.prepare, *program.command]
        for place, name in re.findall(r"\{(source|programs)\}/(\S+)", " ".join(words)):
            folder = PROGRAMS / program.name if place == "source" else PROGRAMS
            assert (folder / name).is_file(), name
        assert set(re.findall(r"\{([a-z]+)\}", " ".join(words))) <= program.places.keys()
        assert program.smoke_size
        assert program.idle_s == float(program.environment["IDLE_S"]) > 0
        assert str(PROGRAMS) in program.environment["PYTHONPATH"]


def test_a_program_without_its_python_packages_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "some.lock").write_text("")
    toys(tmp_path / "own", TOY.format("sh") + 'wheels = "some"\n', monkeypatch)
    [program] = read_programs()
    assert program.reason == "its Python packages are not here: heapwise peers add programs"
    [wheels] = find_wheels()
    wheels.folder.mkdir(parents=True)
    (wheels.folder / "made.json").write_text("{}")
    [program] = read_programs()
    assert (program.status, program.places["wheels"]) == ("", str(wheels.folder))
    (tmp_path / "own" / "some.lock").write_text("# another version")
    [program] = read_programs()
    assert program.status == "missing"


def test_a_program_whose_package_is_not_here_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toys(tmp_path, TOY.format("sh") + 'needs = ["/no/such/file"]\n', monkeypatch)
    [program] = read_programs()
    assert program.reason == "/no/such/file is not here: apt-get install toy"


def test_debian_packages_that_the_tests_install_are_enough_for_most() -> None:
    listed = {
        line.split()[0]
        for file in (ROOT / "tools" / "packages").glob("*.txt")
        for line in file.read_text().splitlines()
        if line and not line.startswith("#")
    }
    needed = {tomllib.loads(path.read_text())["package"] for path in PROGRAMS.glob("*/*.toml")}
    assert needed - listed <= {"perl", "python3", "python3-torch", "redis-server"}, (
        "perl and Python are on every Debian; a package that starts a server is for users to add"
    )


def test_the_experiment_has_every_program_as_a_cell() -> None:
    found = read_program_experiment(ROOT / "experiments" / "heap" / "real_programs.toml")
    [parameter] = found.parameters
    names = [program.name for program in read_programs()]
    assert (parameter.name, parameter.default) == (PROGRAM, names)
    assert set(parameter.smoke) < set(names)
    assert found.programs == read_programs()
    assert [(s.name, s.kind) for s in found.subjects] == [("malloc", "malloc")]
    assert [q.name for q in found.quantities] == ["wall", "cpu", "peak_resident"]


def test_a_program_that_is_not_here_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toys(tmp_path, TOY.format("no-such-program"), monkeypatch)
    [program] = read_programs()
    assert program.status == "missing"
    assert program.reason == "no-such-program is not here: apt-get install toy"


def test_a_misspelt_key_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toys(tmp_path, TOY.format("sh") + "chek = 'x'\n", monkeypatch)
    with pytest.raises(Problem, match=r"toy/program\.toml does not declare a program.*chek"):
        read_programs()
