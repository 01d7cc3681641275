"""Programs under each allocator: each way to go wrong has its row, and no figure."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from heapwise.runner.campaign.steps import REFERENCE_ROUND
from heapwise.store import read_run, run_ids

ROOT = Path(__file__).resolve().parents[3]
JEMALLOC = next(Path("/usr/lib").glob("*/libjemalloc.so.2"), None)
OURS_DIFFERS = "case $LD_PRELOAD in *heapwise-malloc*) echo other;; *) echo same;; esac"
HAS_ITS_OWN_SETTINGS = 'test "$HOME $XDG_CONFIG_HOME" = "$PWD $PWD/.config"'
RUN = ("run", "heap/real_programs", "--rounds", "1", "--subjects", "malloc@heapwise", "--json")


def declare(
    folder: Path,
    name: str,
    *lines: str,
    executable: str = "sort",
    command: str = "['sort', 'input']",
) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "program.toml").write_text(
        "\n".join(
            [
                f"title = 'A toy called {name}'",
                f"package = 'package-of-{name}'",
                f"executables = ['{executable}']",
                "version = ['sort', '--version']",
                f"command = {command}",
                *lines,
            ]
        )
    )


def script(words: str) -> str:
    return f"""['/bin/sh', '-c', '''{words}''']"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    return tmp_path / "my programs"


@pytest.fixture
def surroundings(tmp_path: Path, programs: Path, built_native: Path) -> dict[str, str]:
    """Variables under which the experiment has only the toys that the test declares."""
    native = tmp_path / "native"
    native.mkdir()
    for part in built_native.iterdir():
        if part.is_file():
            (native / part.name).symlink_to(part)
    family = native / "experiments" / "heap"
    family.mkdir(parents=True)
    shutil.copy(ROOT / "experiments" / "heap" / "real_programs.toml", family)
    return {"HEAPWISE_NATIVE": str(native), "HEAPWISE_PROGRAMS": str(programs)}


def stored_run(tmp_path: Path) -> Any:
    store = tmp_path / "store"
    return read_run(store, run_ids(store)[-1])


def test_each_trouble_has_its_row_and_no_figure(
    heapwise: Any, programs: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    declare(programs, "good", "prepare = ['printf \"b\\\\na\\\\n\" > input']")
    declare(programs, "absent", executable="no-such-program")
    declare(programs, "prints_other", command=script(OURS_DIFFERS))
    declare(
        programs,
        "writes_other",
        "output_files = ['out']",
        command=script(f"({OURS_DIFFERS}) > out"),
    )
    declare(
        programs,
        "fails_its_check",
        "check = 'echo it is broken >&2; exit 5'",
        command=script("echo done"),
    )
    declare(programs, "has_no_input", "prepare = ['echo the disk is full >&2; exit 1']")
    declare(programs, "has_no_input_either", "prepare = ['exit 7']")
    declare(programs, "ends_badly", command=script("exit 4"))
    done = heapwise(*RUN, env=surroundings)
    result = json.loads(done.stdout)
    rows = {
        (row["parameters"]["program"], row["subject"]): row
        for row in result["rows"]
        if row["parameters"]["quantity"] == "wall"
    }
    baseline, ours = "malloc@glibc", "malloc@heapwise"
    assert rows["good", ours]["status"] == rows["good", baseline]["status"] == "ok"
    assert rows["absent", baseline]["status"] == "missing"
    assert "apt-get install package-of-absent" in rows["absent", baseline]["note"]
    for name in ("prints_other", "writes_other"):
        assert rows[name, baseline]["status"] == "ok"
        assert rows[name, ours]["status"] == "output_differs"
    assert "it is broken" in rows["fails_its_check", baseline]["note"]
    assert "ended with 1: the disk is full" in rows["has_no_input", ours]["note"]
    assert "its input ended with 7" in rows["has_no_input_either", ours]["note"]
    assert "exit code 4" in rows["ends_badly", baseline]["note"]
    assert rows["ends_badly", ours]["status"] == "refused"
    assert "its output is not known" in rows["ends_badly", ours]["note"]
    assert {row["parameters"]["program"] for row in result["rows"] if row["median"]} == {
        "good",
        "prints_other",
        "writes_other",
    }
    measured = {(s.parameters["program"], s.subject) for s in stored_run(tmp_path).samples}
    assert ("good", ours) in measured
    assert not {("prints_other", ours), ("writes_other", ours)} & measured
    checks = {check["id"]: check["verdict"] for check in result["trust"]["checks"]}
    assert checks["V1"] == "pass"
    assert checks["V8"] == "fail"


def test_programs_that_fail_cost_no_other_program(
    heapwise: Any, programs: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    """Three failures in a row leave a subject out, but only of the program that failed."""
    for name in ("a", "b", "c", "d"):
        declare(programs, name, command=script("exit 4"))
    declare(programs, "good", command=script("echo"))
    done = heapwise(*RUN[:-1], "--rounds", "4", env=surroundings)
    assert done.returncode == 3, done.stderr
    tried = [
        (p.parameters["program"], p.status)
        for p in stored_run(tmp_path).processes
        if p.subject == "malloc@glibc"
    ]
    # A warm-up and four rounds; more if neighbours spoilt one, which is then made up for.
    assert tried.count(("good", "ok")) >= 5
    assert [tried.count((name, "failed")) for name in ("a", "b", "c", "d")] == [3] * 4
    assert "malloc@glibc with program=a: exit code 4" in done.stderr


def test_each_quantity_is_measured_in_the_folder_of_the_program(
    heapwise: Any, programs: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    declare(
        programs,
        "good",
        "prepare = ['printf \"{size}\" > input']",
        "size = 9",
        "smoke_size = 5",
        command=script(f"cat input; {HAS_ITS_OWN_SETTINGS}"),
    )
    declare(programs, "only_in_full_runs", command=script("echo"))
    done = heapwise(*RUN, "--smoke", env=surroundings)
    assert done.returncode == 0, done.stderr
    stored = stored_run(tmp_path)
    assert {p.parameters["program"] for p in stored.processes} == {"good"}
    assert all(p.facts.output_bytes == 1 for p in stored.processes)
    for sample in stored.samples:
        assert set(sample.values) == {"wall", "cpu", "peak_resident"}
        assert sample.values["peak_resident"] > 100_000


def test_a_run_that_goes_on_needs_no_second_reference(
    heapwise: Any, programs: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    declare(programs, "good", "prepare = ['echo once > input']")
    assert heapwise(*RUN, env=surroundings).returncode == 0
    assert heapwise("resume", "--runs", "2", "--quiet", env=surroundings).returncode == 0
    rounds = [p.round for p in stored_run(tmp_path).processes]
    assert rounds.count(REFERENCE_ROUND) == 1
    assert rounds.count(0) == rounds.count(1) == 3


def test_files_are_compared_with_those_of_the_earlier_invocation(
    heapwise: Any, programs: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    """Each invocation has a folder of its own for what the programs write."""
    declare(programs, "right", "output_files = ['out']", command=script("echo same > out"))
    declare(programs, "wrong", "output_files = ['out']", command=script(f"({OURS_DIFFERS}) > out"))
    assert heapwise(*RUN, "--set", "program=right", env=surroundings).returncode == 0
    done = heapwise("resume", "--runs", "2", "--json", env=surroundings)
    checks = {check["id"]: check for check in json.loads(done.stdout)["trust"]["checks"]}
    assert checks["V8"]["verdict"] == "pass", checks["V8"]
    heapwise(*RUN, "--set", "program=wrong", env=surroundings)
    heapwise("resume", "--runs", "2", "--quiet", env=surroundings)
    assert [
        (p.status, p.reason)
        for p in stored_run(tmp_path).processes
        if p.subject == "malloc@heapwise"
    ] == 2 * [("output_differs", "out is not the file that the baseline writes")]


def test_folders_of_programs_may_have_spaces_in_their_names(
    heapwise: Any, programs: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    declare(
        programs,
        "good",
        "prepare = ['cp {source}/program.toml input']",
        "check = 'cmp {source}/program.toml input'",
        command="['cat', '{source}/program.toml']",
    )
    assert heapwise(*RUN, env=surroundings).returncode == 0
    assert {p.reason for p in stored_run(tmp_path).processes} == {""}


def test_a_program_is_started_from_the_path_of_the_user(
    heapwise: Any, programs: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    """Where it was found and examined, not where the system has one of the same name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sort").write_text("#!/bin/sh\necho the one of the user\n")
    (folder / "sort").chmod(0o755)
    declare(programs, "found_first", command="['sort', '/dev/null']")
    path = {"PATH": f"{folder}:{os.environ['PATH']}"}
    assert heapwise(*RUN, env=surroundings | path).returncode == 0
    printed = {p.facts.output_bytes for p in stored_run(tmp_path).processes}
    assert printed == {len("the one of the user\n")}


def test_one_program_is_chosen_by_name(
    heapwise: Any, programs: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    for name in ("first", "second"):
        declare(programs, name, command=script("echo"))
    assert heapwise(*RUN, "--set", "program=second", env=surroundings).returncode == 0
    assert {p.parameters["program"] for p in stored_run(tmp_path).processes} == {"second"}
    wrong = heapwise(*RUN, "--set", "program=secnd", env=surroundings)
    assert wrong.returncode == 2
    assert "there is no program 'secnd'" in wrong.stderr
    assert "second" in wrong.stderr


def built(folder: Path, source: str, *flags: str) -> Path:
    (folder / "toy.c").write_text(source)
    program = folder / "toy"
    subprocess.run(
        ["gcc", "-O1", "-fno-builtin", str(folder / "toy.c"), "-o", str(program), *flags],
        check=True,
        capture_output=True,
    )
    return program


def test_a_program_that_preloading_cannot_reach_is_never_started(
    heapwise: Any, programs: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    own = built(
        tmp_path,
        "#include <stddef.h>\nvoid *je_malloc(size_t n) { return (void *)n; }\n"
        "int main(void) { return 0; }\n",
        "-rdynamic",
    )
    declare(programs, "own", executable=str(own), command=f"['{own}']")
    declare(programs, "good", command=script("echo"))
    done = heapwise(*RUN, env=surroundings)
    result = json.loads(done.stdout)
    [row] = [row for row in result["rows"] if row["parameters"]["program"] == "own"]
    assert row["status"] == "refused"
    assert "has its own allocator inside" in row["note"]
    assert {p.parameters["program"] for p in stored_run(tmp_path).processes} == {"good"}
    [check] = [check for check in result["trust"]["checks"] if check["id"] == "V2"]
    assert check["verdict"] == "warn"
    assert "own: " in check["detail"]


@pytest.mark.skipif(JEMALLOC is None, reason="apt-get install libjemalloc2")
def test_a_program_linked_with_an_allocator_is_measured_if_preloading_replaces_it(
    heapwise: Any, programs: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    source = "#include <stdlib.h>\nint main(void) { free(malloc(9)); return 0; }\n"
    linked = built(tmp_path, source, "-Wl,--no-as-needed", str(JEMALLOC))
    declare(programs, "refused", executable=str(linked), command=f"['{linked}']")
    declare(
        programs,
        "replaced",
        "replaces = 'libjemalloc.so.2'",
        executable=str(linked),
        command=f"['{linked}']",
    )
    result = json.loads(heapwise(*RUN, env=surroundings).stdout)
    statuses = {
        row["parameters"]["program"]: row["status"]
        for row in result["rows"]
        if row["subject"] == "malloc@glibc"
    }
    assert statuses == {"refused": "refused", "replaced": "ok"}
    provider = {
        process.subject: Path(process.identity[0].malloc.path).name
        for process in stored_run(tmp_path).processes
    }
    assert provider["malloc@glibc"].startswith("libc")
    assert provider["malloc@heapwise"] == "libheapwise-malloc.so"
