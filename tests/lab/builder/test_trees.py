"""``peers add trees``: what is built, what is left as it was, and the messages about the rest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from toy_peer import Told, script

from heapwise.builder import add_trees, choose_trees, packages_to_install
from heapwise.builder.trees import APT
from heapwise.catalog import TreePrograms, read_tree_record, read_trees, tree_output
from heapwise.cli.frame.app import run
from heapwise.errors import Problem

pytestmark = pytest.mark.usefixtures("built_native")

PRINTS = f"printf '{tree_output(6).decode()}'".replace("\n", "\\n").replace("\t", "\\t")


class Yard:
    """A folder of languages, each of which is a shell script that another one 'compiles'."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tools = root / "tools"
        self.tools.mkdir()
        script(
            self.tools / "toy-compiler",
            'grep -q wrong "$1" && { echo "error: wrong" >&2; '
            'exit 3; }\ncp "$1" "$2"; chmod +x "$2"\n',
        )

    def declare(
        self, name: str, source: str = PRINTS, tool: str = "toy-compiler", get: str = "the toy shop"
    ) -> TreePrograms:
        folder = self.root / "trees" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tree.toy").write_text(f"#!/bin/sh\n{source}\n")
        (folder / "rows.toml").write_text(
            f'title = "{name}"\ntools = ["{tool}"]\nget = "{get}"\n'
            f'build = [["{tool}", "{{source}}/tree.toy", "{{out}}/tree"]]\n'
            'version = ["echo", "toy 9"]\n'
            f'[[row]]\nname = "{name}"\ntitle = "T"\ngroup = "collector"\nkind = "program"\n'
            'command = ["{out}/tree", "{depth}"]\n'
        )
        return next(found for found in read_trees() if found.name == name)


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Yard:
    found = Yard(tmp_path)
    monkeypatch.setenv("HEAPWISE_TREES", str(tmp_path / "trees"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", f"{found.tools}:/usr/bin:/bin")
    return found


def test_a_built_tree_is_used_until_its_sources_change(yard: Yard) -> None:
    programs, told = yard.declare("toy"), Told()
    assert add_trees(programs, told).news
    assert told.steps == ["building with toy-compiler"]
    record = read_tree_record(programs)
    assert record is not None
    assert record.version == "toy 9"
    assert (programs.out / "tree").read_text().startswith("#!/bin/sh")
    again = Told()
    assert not add_trees(programs, again).news
    assert again.steps == []
    assert add_trees(yard.declare("toy", f"{PRINTS}; true"), Told()).news


def test_a_build_that_fails_leaves_what_was_there(yard: Yard) -> None:
    add_trees(yard.declare("toy"), Told())
    worse = yard.declare("toy", "wrong")
    with pytest.raises(Problem, match="error: wrong") as caught:
        add_trees(worse, Told())
    assert caught.value.id == "E055"
    assert "wrong" not in (worse.out / "tree").read_text()
    assert not list(worse.out.parent.glob(".partial*")), "nothing half made is left"


def test_a_tool_that_is_missing_is_named_with_how_to_get_it(yard: Yard) -> None:
    programs = yard.declare("toy", tool="no-such-tool")
    with pytest.raises(Problem, match="no-such-tool") as caught:
        add_trees(programs, Told())
    assert (caught.value.id, caught.value.do) == ("E054", "the toy shop")


def test_root_gets_the_tools_that_debian_has(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    compiler = (yard.tools / "toy-compiler").read_text()
    (yard.tools / "toy-compiler").unlink()
    script(
        yard.tools / APT[0],
        f'echo "$@" >{yard.root}/asked\n'
        f'cat >{yard.tools}/toy-compiler <<"END"\n{compiler}END\n'
        f"chmod +x {yard.tools}/toy-compiler\n",
    )
    told = Told()
    assert add_trees(yard.declare("toy", get="apt-get install toy-lang libtoy"), told).news
    assert told.steps == ["installing toy-lang, libtoy", "building with toy-compiler"]
    assert (
        (yard.root / "asked")
        .read_text()
        .endswith("install --no-install-recommends toy-lang libtoy\n")
    )


def test_nobody_else_installs_anything(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (yard.tools / "toy-compiler").unlink()
    script(yard.tools / APT[0], f"touch {yard.root}/asked\n")
    with pytest.raises(Problem) as caught:
        add_trees(yard.declare("toy", get="apt-get install toy-lang"), Told())
    assert caught.value.do == "apt-get install toy-lang"
    assert not (yard.root / "asked").exists()


def test_root_installs_nothing_that_he_did_not_want(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (yard.tools / "toy-compiler").unlink()
    script(yard.tools / APT[0], f"touch {yard.root}/asked\n")
    programs = yard.declare("toy", get="apt-get install toy-lang libtoy")
    assert packages_to_install([programs]) == ["toy-lang", "libtoy"]
    with pytest.raises(Problem):
        add_trees(programs, Told(), install=False)
    assert not (yard.root / "asked").exists()


def test_each_failure_is_reported_and_the_rest_goes_on(
    yard: Yard, capsys: pytest.CaptureFixture[str]
) -> None:
    yard.declare("absent", tool="no-such-tool")
    yard.declare("broken", "wrong")
    yard.declare("good")
    yard.declare("sums_wrong", "echo 42")
    assert run(["peers", "add", "trees", "--json"]) == 5
    said = capsys.readouterr()
    results = {found["name"]: found["trouble"] for found in json.loads(said.out)}
    assert "no-such-tool" in results["absent"]
    assert "error: wrong" in results["broken"]
    assert results["trees/good"] == ""
    assert "line 1 is '42'" in results["trees/sums_wrong"]
    assert run(["peers", "list"]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    assert "trees/good toy 9: good" in listed
    assert "trees/absent missing -> the toy shop, then heapwise peers add trees" in listed
    assert run(["peers", "remove", "trees/good"]) == 0
    assert not choose_trees("trees/good")[0].out.exists()


def test_an_unknown_language_is_refused_by_its_name(yard: Yard) -> None:
    yard.declare("good")
    with pytest.raises(Problem, match=r"did you mean trees/good\?") as caught:
        choose_trees("trees/goo")
    assert caught.value.id == "E002"
