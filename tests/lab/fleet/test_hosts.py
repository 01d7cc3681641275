"""hosts.toml, the words that go to machines, and the options of clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from heapwise.errors import Problem
from heapwise.fleet.engines.engines import machine_name, open_engine
from heapwise.fleet.hosts import Host, read_hosts
from heapwise.fleet.request import words_for_machines


def written(folder: Path, text: str) -> Path:
    path = folder / "hosts.toml"
    path.write_text(text)
    return path


def test_a_line_is_a_machine(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        'one = "local"\ntwo = "me@two.example"\n'
        'three = { ssh = "three", python = "/opt/py", options = ["-p", "22"] }\n',
    )
    assert read_hosts(path) == [
        Host("one"),
        Host("two", "me@two.example"),
        Host("three", "three", "/opt/py", "", ("-p", "22")),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one = 3",
        "one = [1]",
        "one",
        '"a/b" = "local"',
        'one = "-oProxyCommand=touch x"',
        'one = { ssh = "x", rot = 1 }',
        'one = { python = "x" }',
    ],
)
def test_a_file_that_is_not_a_list_of_machines_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Problem) as refused:
        read_hosts(written(tmp_path, text))
    assert refused.value.id == "E012"


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (
            ["compare", "--fleet", "h.toml", "--json", "-r", "5", "--", "ls", "--json"],
            ["compare", "-r", "5", "--", "ls", "--json"],
        ),
        (
            ["run", "x", "--store=/a", "--fleet=h", "--quiet", "--seed", "3"],
            ["run", "x", "--seed", "3"],
        ),
    ],
)
def test_machines_get_the_words_that_concern_them(words: list[str], kept: list[str]) -> None:
    assert words_for_machines(words) == kept


@pytest.mark.parametrize("target", ["slurm:bench", "k8s:bench"])
def test_a_missing_part_of_the_engine_is_named(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("dask_jobqueue", "dask_kubernetes.operator"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(Problem) as refused:
        open_engine(target)
    assert refused.value.id == "E064"
    assert "fleet-" in refused.value.do


def test_names_of_hosts_become_names_of_machines() -> None:
    assert machine_name("10.0.0.7") == "10-0-0-7"
    assert machine_name("") == "machine"
