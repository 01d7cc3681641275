"""Every verb, given what it cannot use: what, why, what next, the documented code, nothing lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from heapwise.store import run_ids

SUBJECTS = ("--subjects", "good", "--rounds", "1", "--set", "size=8")

TABLE: list[tuple[tuple[str, ...], int, str, str]] = [
    (("compare",), 2, "E003", "no program was given"),
    (("compare", "--", "/no/such/program"), 2, "E010", "No file has this path. Nothing"),
    (("compare", "--", "./no-program"), 2, "E010", "No file has this path, seen from /"),
    (("compare", "--", "./jbo"), 2, "E010", "do: perhaps ./job is meant"),
    (("compare", "--", "."), 2, "E010", "A folder cannot be started"),
    (("compare", "--", "./data"), 2, "E010", "It has no permission to be started"),
    (("compare", "--", "job"), 2, "E010", "not on PATH"),
    (("compare", "--runs", "0", "--", "true"), 2, "E003", "--runs"),
    (("compare", "--runs", "many", "--", "true"), 2, "E003", "--runs many needs a whole number"),
    (("compare", "--rounds=-3", "--", "true"), 2, "E003", "--rounds -3 needs 1 or more"),
    (("compare", "--precision", "much", "--", "true"), 2, "E003", "--precision much needs a num"),
    (("compare", "--time", "soon", "--", "true"), 2, "E003", "soon is not a duration"),
    (("compare", "--time", "-3", "--", "true"), 2, "E003", "duration"),
    *(
        (("compare", "--precision", word, "--", "true"), 2, "E003", "--precision")
        for word in ("nan", "-1", "0", "inf", "101")
    ),
    (("compare", "--time", "9" * 20 + "h", "--", "true"), 2, "E003", "longer than a year"),
    (("compare", "--timeout", "0", "--", "true"), 2, "E003", "--timeout"),
    (("compare", "--cpus", "9-", "--", "true"), 2, "E003", "--cpus"),
    (("compare", "--cpus", "8191", "--", "true"), 2, "E003", "8191"),
    (("compare", "--input", "/no/such/file", "--", "true"), 2, "E003", "--input"),
    (
        ("compare", "--input", "/no/such/file", "--", "true"),
        2,
        "E003",
        "do: heapwise compare --help",
    ),
    (("compare", "--allocators", "jemaloc", "--", "true"), 2, "E002", "did you mean jemalloc"),
    (("compare", "--time-unit", "secnd", "--", "true"), 2, "E003", "did you mean second"),
    (("compare", "--export", "a.json", "-L", "x", "--", "true"), 2, "E003", "do: heapwise compare"),
    (("compare", "--relink", "12", "true", "false"), 2, "E003", "do: heapwise gate --base-commit"),
    (("compare", "--baseline", "zzz", "--", "true"), 2, "E002", "zzz"),
    (("compare", "--allocator", "x", "--", "true"), 2, "E003", "name=/path"),
    (("compare", "--allocator", "x=/no.so", "--", "true"), 5, "E053", "/no.so"),
    (("compare", "--allocator", "x=/etc/passwd", "--", "true"), 2, "E029", "not a shared library"),
    (("compare", "--baseline", "own", "--", "true"), 2, "E002", "no allocator of its own"),
    (("compare", "--allocators", "glibc", "--", "true"), 2, "E003", "at least one other"),
    (("compare", "--nonsense", "--", "true"), 2, "E003", "--nonsense"),
    (("compare", "--", "./empty"), 2, "E026", "begin the script with a line such as #!/bin/sh"),
    (("compare", "--", "./empty"), 2, "E026", "name its interpreter before it: sh ./empty"),
    (("compare", "--", "ls / | wc -l"), 2, "E010", "heapwise compare --shell 'ls / | wc -l'"),
    (("compare", "--", ""), 2, "E003", "is empty"),
    (("compare", "--", "./loop"), 2, "E026", "interpreters"),
    (("compare", "--", "./orphan"), 2, "E010", "names /no/interpreter as its interpreter"),
    (("report",), 2, "E004", "Nothing was measured yet"),
    (("export", "--format", "cvs"), 2, "E003", "did you mean csv"),
    (("serve", "--recipe", "rediz"), 2, "E003", "did you mean redis"),
    (("trace", "no.hwt"), 2, "E062", "heapwise record -o no.hwt -- PROGRAM"),
    (("trace", "job"), 2, "E062", "heapwise record -o job.hwt -- ./job more:"),
    (("advise", "--", "./job"), 2, "E062", "job is a program, not a trace"),
    (
        ("advise", "--", "./job", "a b"),
        2,
        "E003",
        "heapwise record -o job.hwt -- ./job 'a b' && heapwise advise job.hwt",
    ),
    (("fleet", "status"), 2, "E004", "has no fleet run. Nothing was measured with --fleet"),
    (("fleet", "check", "no.toml"), 2, "E012", "no.toml cannot be read: No such file"),
    (("run", "fake/subject"), 2, "E001", "did you mean fake/subjects"),
    (("run", "nothing/*"), 2, "E001", "no experiment matches 'nothing/*'"),
    (("run", "nothing"), 2, "E001", "there is no experiment 'nothing'"),
    (("peers", "remove", "evil"), 2, "E002", "There is nothing to remove"),
    (("peers", "remove", "rpmalloc"), 5, "E053", "There is nothing to remove"),
    (("run", "all", "--set", "size"), 2, "E003", "NAME=VALUE"),
    (("run", "all", "--set", "siez=1"), 2, "E003", "did you mean size"),
    (("run", "all", "--set", "size=big"), 2, "E003", "big"),
    (("run", "all", "--set", "size=8,0"), 2, "E003", "do: give 1 or more"),
    (("run", "all", "--set", "mode=a,alas"), 2, "E003", "do: name one of a, also, zz"),
    (("run", "all", "--subjects", "godo"), 2, "E003", "did you mean good"),
    (("run", "all", "--rounds", "0"), 2, "E003", "--rounds"),
    (("resume", "zzzz"), 2, "E004", "zzzz"),
    (("list", "nothing"), 2, "E001", "nothing"),
    (("peers", "path", "mimaloc"), 2, "E002", "did you mean mimalloc"),
    (("peers", "check", "nobody"), 2, "E002", "nobody"),
    (("explain", "E999"), 2, "E003", "E999"),
    (("explain", "pool/blk"), 2, "E003", "pool/blk"),
    (("compar",), 2, "E003", "compare"),
    (("doctor", "--wat"), 2, "E003", "--wat"),
]


@pytest.fixture
def place(tmp_path: Path, fake_native: Path, environment: dict[str, str]) -> Path:
    """A working directory with odd files, and fakes beside the real launcher where there is one."""
    (tmp_path / "data").write_text("words")
    for name, text in (
        ("job", "#!/bin/sh\n"),
        ("empty", ""),
        ("loop", f"#!{tmp_path}/loop\n"),
        ("orphan", "#!/no/interpreter\n"),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment["HEAPWISE_NATIVE"] = str(fake_native)
    return tmp_path


@pytest.mark.parametrize(("words", "code", "id", "part"), TABLE, ids=lambda v: str(v)[:40])
def test_what_why_next_and_code(
    heapwise: Any, place: Path, words: tuple[str, ...], code: int, id: str, part: str
) -> None:
    done = heapwise(*words)
    assert done.returncode == code, done.stderr
    assert f"error {id}:" in done.stderr
    flat = " ".join(done.stderr.split())
    assert part in flat
    assert "  do: " in done.stderr
    assert f"more: heapwise explain {id}" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == "" or "Checking" in done.stdout
    assert run_ids(place / "store") == []


def test_debug_shows_the_traceback(heapwise: Any) -> None:
    assert "Traceback" in heapwise("explain", "E999", "--debug").stderr
    assert "Traceback" not in heapwise("compare", "--", "/no/such", "--debug").stderr


def test_our_own_mistake_is_70(heapwise: Any, place: Path) -> None:
    """A mistake is planted; the user sees an id and no traceback."""
    (place / "sitecustomize.py").write_text(
        "import heapwise.catalog.experiments as e\n"
        "def explode(*_): raise RuntimeError('boom')\n"
        "e.choose_experiments = explode\n"
        "import heapwise.catalog as c\nc.choose_experiments = explode\n"
    )
    import os

    path = f"{place}:{os.environ.get('PYTHONPATH', '')}"
    done = heapwise("list", "x", env={"PYTHONPATH": path})
    assert done.returncode == 70, done.stderr
    assert "error E070: RuntimeError: boom" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("tiem = '3m'", "did you mean time?"),
        ("[compare]\nroundz = 3", "did you mean rounds?"),
        ("[compair]\nruns = 3", "did you mean compare?"),
        ("time = ", "cannot be read"),
        ("store = 5", "store = 5 in"),
        ("quiet = []", "it needs true or false"),
        ("rounds = 'x'", "it needs a whole number"),
        ("allocators = [true]", "it needs a text in quotes"),
    ],
)
def test_unknown_settings_are_errors(heapwise: Any, place: Path, file: str, part: str) -> None:
    (place / "heapwise.toml").write_text(file)
    done = heapwise("list")
    assert done.returncode == 2
    assert part in " ".join(done.stderr.split())


def test_options_of_a_program_need_two_dashes(heapwise: Any) -> None:
    done = heapwise("compare", "--dry-run", "true", "--wat")
    assert done.returncode == 2
    assert "heapwise compare -- true --wat" in " ".join(done.stderr.split())
    done = heapwise("compare", "--dry-run", "--json", "--", "true", "--runs", "1")
    assert json.loads(done.stdout)["command"][1:] == ["--runs", "1"]


def test_settings_that_are_a_folder_are_an_error(heapwise: Any, place: Path) -> None:
    (place / "heapwise.toml").mkdir()
    done = heapwise("list")
    assert done.returncode == 2
    assert "heapwise.toml is a folder" in " ".join(done.stderr.split())


def test_a_list_in_the_file_is_the_list_of_the_flag(heapwise: Any, place: Path) -> None:
    (place / "heapwise.toml").write_text("allocators = ['jemalloc', 'mimalloc']\nprecision = 2\n")
    done = heapwise("compare", "--dry-run", "--json", "--", "true")
    plan = json.loads(done.stdout)
    assert [s["name"] for s in plan["subjects"] if not s["control"]] == [
        "glibc",
        "jemalloc",
        "mimalloc",
    ]
    assert plan["precision"] == 0.02


def test_file_then_environment_then_flag(heapwise: Any, place: Path) -> None:
    (place / "heapwise.toml").write_text("rounds = 7\n[run]\nseed = 3\n")

    def plan(*words: str, **env: str) -> Any:
        done = heapwise("run", "all", "--dry-run", "--json", *words, env=env)
        return json.loads(done.stdout)["plan"]

    assert (plan()["max_rounds"], plan()["seed"]) == (7, 3)
    assert plan(HEAPWISE_ROUNDS="8")["max_rounds"] == 8
    assert plan("--rounds", "9", HEAPWISE_ROUNDS="8")["max_rounds"] == 9


def test_the_store_of_the_variable_has_priority_over_that_of_the_file(
    heapwise: Any, place: Path
) -> None:
    (place / "heapwise.toml").write_text(f'store = "{place}/of_file"\n')
    words = ("run", "fake/subjects", *SUBJECTS, "--quiet")
    assert heapwise(*words, env={"HEAPWISE_STORE": f"{place}/of_variable"}).returncode == 0
    assert len(run_ids(place / "of_variable")) == 1
    assert not (place / "of_file").exists()
    assert heapwise(*words, "--store", f"{place}/of_flag").returncode == 0
    assert len(run_ids(place / "of_flag")) == 1


def test_no_native_parts(heapwise: Any, tmp_path: Path) -> None:
    (tmp_path / "hollow").mkdir()
    env = {"HEAPWISE_NATIVE": str(tmp_path / "hollow")}
    done = heapwise("compare", "--runs", "1", "--", "true", env=env)
    assert done.returncode == 5
    assert "E052" in done.stderr
    assert heapwise("list", env={"HEAPWISE_NATIVE": "/no/where"}).returncode == 5


@pytest.mark.parametrize("store", ["/proc/heapwise", "{place}/data", "{place}/data/below"])
def test_a_store_that_cannot_be_written(heapwise: Any, place: Path, store: str) -> None:
    store = store.format(place=place)
    done = heapwise("run", "fake/subjects", *SUBJECTS, "--store", store)
    assert done.returncode == 5
    assert "error E050" in done.stderr
    assert (place / "data").read_text() == "words"


def measured(heapwise: Any, place: Path) -> Path:
    assert heapwise("run", "fake/subjects", *SUBJECTS, "--quiet").returncode == 0
    return place / "store" / "runs" / run_ids(place / "store")[0]


def test_a_damaged_line_is_counted_and_left(heapwise: Any, place: Path) -> None:
    folder = measured(heapwise, place)
    samples = folder / "samples.jsonl"
    text = samples.read_bytes().split(b"\n")
    text[1] = b'{"kind":"sam\xff\x00'
    samples.write_bytes(b"\n".join(text))
    before = samples.read_bytes()
    done = heapwise("resume", folder.name)
    assert done.returncode == 0, done.stderr
    assert "W002" in done.stderr
    assert "1 damaged sample line" in done.stderr
    assert samples.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "id", "code"),
    [
        ({"schema": 999}, "E060", 2),
        ({"schema": "one"}, "E061", 2),
        ({"plan": 5}, "E061", 2),
        (None, "E061", 2),
    ],
)
def test_a_damaged_or_newer_run_is_refused_and_left(
    heapwise: Any, place: Path, change: dict[str, Any] | None, id: str, code: int
) -> None:
    folder = measured(heapwise, place)
    file = folder / "run.json"
    document = json.loads(file.read_text())
    file.write_text("{" if change is None else json.dumps(document | change))
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = heapwise("resume", folder.name)
    assert (done.returncode, f"error {id}" in done.stderr) == (code, True), done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept


def test_runs_merge_by_copying(heapwise: Any, place: Path) -> None:
    folder = measured(heapwise, place)
    other = place / "other" / "runs"
    shutil.copytree(folder, other / folder.name)
    done = heapwise("resume", folder.name, "--store", str(place / "other"))
    assert done.returncode == 0, done.stderr
