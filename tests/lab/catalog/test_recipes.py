"""Recipes of servers: what is found where, and what they say if something is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heapwise.catalog import recipes
from heapwise.catalog.added import RECORD
from heapwise.catalog.program_wheels import ProgramWheels
from heapwise.catalog.recipes import find_recipe
from heapwise.errors import Problem

ROOT = Path(__file__).resolve().parents[3]
TOY = """
title = "a toy"
package = "toy-server"
programs = ["toyd"]
server = ["toyd", "{port}"]
ready = "tcp:{port}"
load = "wrk -d {time}s http://127.0.0.1:{port}/"
"""


def program(folder: Path, name: str, text: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of recipes with one in it. Programs of users are in bin, those of root in sbin."""
    (tmp_path / "recipes" / "toy").mkdir(parents=True)
    (tmp_path / "recipes" / "toy" / "recipe.toml").write_text(TOY)
    program(tmp_path / "bin", "wrk")
    monkeypatch.setenv("HEAPWISE_RECIPES", str(tmp_path / "recipes"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(recipes, "OF_ROOT", str(tmp_path / "sbin"))
    return tmp_path


def test_a_server_that_is_where_only_root_looks_is_found(toys: Path) -> None:
    server = program(toys / "sbin", "toyd")
    assert find_recipe("toy").server == [str(server), "{port}"]


def test_a_server_that_the_user_has_comes_first(toys: Path) -> None:
    program(toys / "sbin", "toyd")
    server = program(toys / "bin", "toyd")
    assert find_recipe("toy").server[0] == str(server)


def test_a_server_that_is_missing_names_its_package(toys: Path) -> None:
    with pytest.raises(Problem, match="toyd is not installed") as refused:
        find_recipe("toy")
    assert (refused.value.id, "apt-get install toy-server" in refused.value.do) == ("E010", True)


def test_a_generator_that_is_missing_is_named(toys: Path) -> None:
    program(toys / "sbin", "toyd")
    (toys / "bin" / "wrk").unlink()
    with pytest.raises(Problem, match="wrk is not installed") as refused:
        find_recipe("toy")
    assert refused.value.id == "E010"


@pytest.mark.parametrize(
    ("initdb", "said"),
    [
        ("", "apt-get install postgresql"),
        ("echo there is no room for a database; exit 3", "there is no room for a database"),
    ],
)
def test_preparing_a_database_says_why_it_fails(tmp_path: Path, initdb: str, said: str) -> None:
    """As the user that runs it, with or without the server's programs."""
    recipe = shutil.copytree(ROOT / "recipes" / "postgresql", tmp_path / "recipe")
    (recipe / "common.sh").write_text('as_user() { exec "$@"; }\nid() { echo 1000; }\n')
    path = tmp_path / "programs"
    for name in ("sh", "dirname", "cat"):
        program(path, name, f'exec {shutil.which(name)} "$@"')
    if initdb:
        program(path, "initdb", initdb)
    for name in ("folder", "cache"):
        (tmp_path / name).mkdir()
    done = subprocess.run(
        ["/bin/sh", recipe / "prepare.sh", tmp_path / "folder", tmp_path / "cache", "5432"],
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert said in done.stderr


def test_a_recipe_whose_python_packages_are_missing_says_how_to_get_them(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toys / "recipes" / "toy" / "recipe.toml").write_text(
        TOY.replace('"toyd", "{port}"', '"{python}", "{port}", "{wheels}"')
        .replace('["toyd"]', "[]")
        .replace("load =", 'wheels = "some"\nload =')
    )
    (toys / "programs").mkdir()
    (toys / "programs" / "some.lock").write_text("")
    monkeypatch.setenv("HEAPWISE_PROGRAMS", str(toys / "programs"))
    monkeypatch.setenv("XDG_DATA_HOME", str(toys / "data"))
    with pytest.raises(Problem, match="its Python packages are not here") as refused:
        find_recipe("toy")
    assert "heapwise peers add programs" in refused.value.do

    packages = ProgramWheels("some", toys / "programs" / "some.lock")
    packages.folder.mkdir(parents=True)
    (packages.folder / RECORD).touch()
    assert find_recipe("toy").server == [sys.executable, "{port}", str(packages.folder)]
