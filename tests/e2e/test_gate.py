"""``heapwise gate`` on real programs: one is slower, one allocates once more, one fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as Xml
from pathlib import Path
from typing import Any

import pytest
from planted_commits import git

from heapwise.evidence import Evidence
from heapwise.stats.claims.limits import ALL_LOOKS
from heapwise.store import read_run, run_ids
from heapwise.study.gate.grown_sites import NOT_RECORDED, grown_sites

pytestmark = pytest.mark.usefixtures("built_native")

SOURCE = Path(__file__).resolve().parents[1] / "data" / "gate_program.c"
COMPILE = "cc -O1 -g -o app app.c"
QUICK = ("--", "10", "100")
SLOWER = ("--", "20000", "100")
"""Some milliseconds of work: with twice of it no noise of a neighbour hides the difference."""


def build(tmp_path: Path, name: str, *flags: str) -> str:
    path = tmp_path / name
    subprocess.run(["cc", "-O1", *flags, "-o", str(path), str(SOURCE)], check=True)
    return f"./{name}"


@pytest.fixture
def base(tmp_path: Path) -> str:
    return build(tmp_path, "base")


def gate(heapwise: Any, base: str, new: str, *words: str, **options: Any) -> Any:
    return heapwise("gate", "--base", base, "--new", new, *words, **options)


def found(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(done.stdout)["gate"]
    return result


def test_one_extra_allocation_in_a_million_fails(heapwise: Any, tmp_path: Path, base: str) -> None:
    new = build(tmp_path, "extra", "-DEXTRA=1")
    done = gate(
        heapwise,
        base,
        new,
        "--limit",
        "allocations=0",
        "--limit",
        "allocated_bytes=0",
        "--json",
        "--",
        "10",
        "1000000",
    )
    assert done.returncode == 1, done.stderr
    rows = found(done)["rows"]
    assert [row["new"] - row["base"] for row in rows] == [1, 64]
    assert all(row["exact"] and row["verdict"] == "regressed" for row in rows)
    assert "1 more, exact, limit 0 %" in rows[0]["sentence"]
    store = tmp_path / "store"
    stored = read_run(store, run_ids(store)[-1])
    assert sum(p.facts.counting for p in stored.processes) == 12  # six of each build
    assert stored.run.plan.options.gate is not None
    assert stored.run.plan.options.gate.limits == {"allocations": 0, "allocated_bytes": 0}
    assert Evidence(stored).compares_builds


def test_a_planted_slow_down_fails_and_the_files_say_so(
    heapwise: Any, tmp_path: Path, base: str
) -> None:
    new = build(tmp_path, "slow", "-DSLOW=200")
    files = ["gate.xml", "gate.sarif", "gate.md", "gate.bmf.json"]
    done = gate(
        heapwise,
        base,
        new,
        "--limit",
        "time=3%",
        "--time",
        "60s",
        *(word for file in files for word in ("--export", file)),
        *SLOWER,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Time regressed: new" in done.stdout
    assert "confirmed in" in done.stdout
    assert "limit 3 %" in done.stdout
    assert all((tmp_path / file).stat().st_size for file in files)
    assert Xml.parse(tmp_path / "gate.xml").getroot()[0].get("failures") == "1"
    shown = heapwise("report", "last", "--output", "report.html")
    assert shown.returncode == 0, shown.stderr
    assert "Time regressed" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_gate_that_found_nothing_is_fine(heapwise: Any, base: str) -> None:
    done = gate(
        heapwise,
        base,
        base,
        "--measure-identical",
        "--limit",
        "peak_memory=60%",
        "--limit",
        "time=90%",
        "--json",
        *SLOWER,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert found(done)["verdict"] == "fine"


RESTLESS = """
#include <time.h>
int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  for (volatile long step = now.tv_nsec / 1000 % 200 * 50000 + 2000000; step > 0; --step) {}
}
"""
"""It does one to six times the least work, by the clock: on any machine it differs from itself."""


def test_a_limit_below_the_noise_is_refused_to_be_judged(heapwise: Any, tmp_path: Path) -> None:
    (tmp_path / "restless.c").write_text(RESTLESS)
    subprocess.run(["cc", "-o", "restless", "restless.c"], cwd=tmp_path, check=True)
    words = ("--measure-identical", "--limit", "time=2%", "--time", "12s", "--warmup", "0")
    done = gate(heapwise, "./restless", "./restless", *words, "--json")
    assert done.returncode == 4, done.stdout + done.stderr
    [row] = found(done)["rows"]
    assert row["verdict"] == "cannot tell"
    assert row["too_noisy"]
    assert row["noise"] > 0.02


def test_a_limit_that_cannot_be_counted_fails_if_strict(
    heapwise: Any, tmp_path: Path, base: str
) -> None:
    """The counter cannot be loaded into a static program."""
    static = build(tmp_path, "static", "-static")
    done = gate(heapwise, base, static, "--limit", "allocations=0", "--strict", *QUICK)
    assert done.returncode == 4
    assert "Allocations cannot be told: they were not counted twice in new" in done.stdout


def test_a_limit_that_can_never_be_counted_does_not_pass(heapwise: Any, tmp_path: Path) -> None:
    """Else a gate of a static or of a Go program passes for ever."""
    for name in ("base", "newer"):
        build(tmp_path, name, "-static")
    done = gate(heapwise, "./base", "./newer", "--limit", "allocations=0", *QUICK)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "they never can be: base is statically linked. Take this limit out" in done.stdout


def test_a_program_that_fails_is_3(heapwise: Any, tmp_path: Path, base: str) -> None:
    bad = tmp_path / "bad"
    bad.write_text("#!/bin/sh\nexit 7\n")
    bad.chmod(0o755)
    done = gate(heapwise, base, "./bad", "--limit", "time=3%", *QUICK)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "E030" in done.stderr
    assert "new" in done.stderr


def test_a_gate_may_take_the_last_look_of_both_stages(heapwise: Any, base: str) -> None:
    """Its time ends it, not the number of rounds that a comparison may have."""
    done = gate(
        heapwise,
        base,
        base,
        "--measure-identical",
        "--limit",
        "time=3%",
        "--dry-run",
        "--json",
        *QUICK,
    )
    assert json.loads(done.stdout)["options"]["most_rounds"] == 2 * ALL_LOOKS[-1]


def test_identical_builds_are_answered_at_once(heapwise: Any, tmp_path: Path, base: str) -> None:
    """They differ in the name of the folder in their debugging information alone."""
    names = "one", "a_much_longer_name_than_the_other_one_has"
    for name in names:
        (tmp_path / name).mkdir()
        shutil.copy(SOURCE, tmp_path / name / "app.c")
        subprocess.run(["sh", "-c", COMPILE], cwd=tmp_path / name, check=True)
    one, two = (tmp_path / name / "app" for name in names)
    assert one.read_bytes() != two.read_bytes()
    done = gate(heapwise, str(one), str(two), "--limit", "time=3%", "--export", "a.xml", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "Nothing was measured" in done.stdout
    assert (tmp_path / "a.xml").exists()
    assert not run_ids(tmp_path / "store")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--limit", "tyme=3%"), "did you mean time"),
        (("--limit", "time=3"), "percentage"),
        (("--limit", "time=0"), "never equal"),
        ((), "at least one --limit"),
        (("--limit", "time=3%", "--export", "a.txt"), ".sarif"),
        (("--limit", "time=3%", "--base-commit", "main"), "and one of --base, --base-commit,"),
    ],
)
def test_bad_usage(heapwise: Any, base: str, words: tuple[str, ...], said: str) -> None:
    done = gate(heapwise, base, base, *words)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A program with two commits and a change that is not committed."""
    folder = tmp_path / "tree"
    folder.mkdir()
    program = SOURCE.read_text()
    (folder / ".gitignore").write_text("app\n")
    git(folder, "init", "--quiet", "-b", "main")
    for extra in (0, 1):
        (folder / "app.c").write_text(program.replace("#define EXTRA 0", f"#define EXTRA {extra}"))
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", f"{extra} more")
    (folder / "app.c").write_text(program.replace("#define EXTRA 0", "#define EXTRA 2"))
    return folder


def of_commit(
    heapwise: Any,
    folder: Path,
    revision: str,
    *words: str,
    command: str = COMPILE,
    program: str = "app",
) -> Any:
    return heapwise(
        "gate",
        "--base-commit",
        revision,
        "--build-command",
        command,
        "--new",
        program,
        "--limit",
        "allocations=0",
        *words,
        cwd=folder,
        env={"XDG_CACHE_HOME": str(folder.parent / "cache")},
    )


@pytest.mark.parametrize(("revision", "more"), [("main", 1), ("main~1", 2)])
def test_the_base_is_built_from_a_commit(
    heapwise: Any, repository: Path, revision: str, more: int
) -> None:
    done = of_commit(heapwise, repository, revision, "--json", *QUICK)
    assert done.returncode == 1, done.stderr
    [row] = found(done)["rows"]
    assert row["new"] - row["base"] == more
    assert list((repository.parent / "cache" / "heapwise" / "commits").iterdir()) == []
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_a_build_that_fails_is_reported_and_cleaned_up(heapwise: Any, repository: Path) -> None:
    done = of_commit(heapwise, repository, "main", *QUICK, command="echo no compiler; exit 9")
    assert done.returncode == 3
    assert "no compiler" in done.stderr
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_a_hook_of_the_user_changes_nothing_of_the_base(heapwise: Any, repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nsed -i 's/#define EXTRA 0/#define EXTRA 9/' app.c\n")
    hook.chmod(0o755)
    done = of_commit(heapwise, repository, "main~1", "--json", *QUICK)
    [row] = found(done)["rows"]
    assert row["new"] - row["base"] == 2


def test_an_unknown_commit_is_bad_usage(heapwise: Any, repository: Path) -> None:
    done = of_commit(heapwise, repository, "nosuch", *QUICK)
    assert done.returncode == 2
    assert "E009" in done.stderr


def test_a_gate_names_the_line_that_allocates_more(heapwise: Any, tmp_path: Path) -> None:
    base = build(tmp_path, "base", "-g")
    new = build(tmp_path, "extra", "-g", "-DEXTRA=240")
    done = gate(heapwise, base, new, "--limit", "allocations=0", "--", "10", "1000")
    assert done.returncode == 1, done.stderr
    [line] = [each for each in done.stdout.splitlines() if each.startswith("More by")]
    number = next(
        number
        for number, text in enumerate(SOURCE.read_text().splitlines(), 1)
        if "malloc(" in text
    )
    assert "Recording each build once" in done.stdout
    assert line.split(None, 2)[2] == f"+240 blocks, +15 KiB: main ({SOURCE.name}:{number})"


def test_the_files_and_the_stored_run_name_the_line_that_allocates_more(
    heapwise: Any, repository: Path
) -> None:
    files = ("gate.md", "gate.sarif", "gate.xml")
    words = ("--json", *(word for file in files for word in ("--export", file)))
    done = of_commit(heapwise, repository, "main", *words, *QUICK)
    assert done.returncode == 1, done.stderr
    [line] = [
        number
        for number, text in enumerate((repository / "app.c").read_text().splitlines(), 1)
        if "malloc(" in text
    ]
    name = f"main (app.c:{line})"
    assert found(done)["grown"] == {
        "sites": [
            {"name": name, "blocks": 1, "bytes": 64, "estimated": False}
            | {"file": "app.c", "line": line},
        ],
        "unknown": "",
    }
    amount = f"+1 block, +64 B: {name}"
    assert f"- {amount}" in (repository / "gate.md").read_text().splitlines()
    [result] = json.loads((repository / "gate.sarif").read_text())["runs"][0]["results"]
    place = {"artifactLocation": {"uri": "app.c"}, "region": {"startLine": line}}
    assert [each["physicalLocation"] for each in result["locations"]] == [place]
    [related] = result["relatedLocations"]
    assert (related["physicalLocation"], amount in related["message"]["text"]) == (place, True)
    failure = Xml.parse(repository / "gate.xml").getroot().find(".//failure")
    assert failure is not None
    assert f"More by {amount}" in str(failure.text)
    page = repository / "report.html"
    assert heapwise("report", "last", "--output", str(page), cwd=repository).returncode == 0
    assert amount in page.read_text(encoding="utf-8")


def test_a_build_that_cannot_be_recorded_leaves_its_call_sites_unknown(
    heapwise: Any, tmp_path: Path
) -> None:
    base, new = build(tmp_path, "base"), build(tmp_path, "extra", "-DEXTRA=1")
    done = gate(heapwise, base, new, "--limit", "allocations=0", *QUICK)
    assert done.returncode == 1, done.stderr
    store = tmp_path / "store"
    run = read_run(store, run_ids(store)[-1]).run
    assert run.grown is not None
    assert [site.blocks for site in run.grown.sites] == [1]
    (tmp_path / base).unlink()
    assert grown_sites(run, {"allocations": 1}).unknown == NOT_RECORDED


def test_a_gate_that_is_fine_names_no_line(heapwise: Any, tmp_path: Path) -> None:
    base = build(tmp_path, "base", "-g")
    new = build(tmp_path, "fewer", "-g", "-DEXTRA=-5")
    done = gate(heapwise, base, new, "--limit", "allocations=0", "--", "10", "1000")
    assert done.returncode == 0, done.stderr
    assert "More by" not in done.stdout


@pytest.mark.parametrize(("more", "code", "runs"), [(0, 0, 4), (300, 1, 10)])
def test_few_processes_are_slowed_down_to_count_instructions_that_repeat_themselves(
    heapwise: Any, tmp_path: Path, base: str, more: int, code: int, runs: int
) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    new = build(tmp_path, "newer", f"-DEXTRA={more}")
    done = gate(heapwise, base, new, "--measure-identical", "--limit", "instructions=1%", *QUICK)
    assert done.returncode == code, done.stdout + done.stderr
    stored = read_run(tmp_path / "store", run_ids(tmp_path / "store")[-1])
    if stored.run.plan.options.gate.by_processor:
        pytest.skip("the processor counts them")
    counted = [p.facts.instructions for p in stored.processes if p.facts.instructions]
    assert len(counted) == runs
    assert len({*counted}) == (2 if more else 1)
