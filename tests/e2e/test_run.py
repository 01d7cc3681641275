"""``run`` with experiments that behave, and with such that do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from planned import planned_processes

from heapwise.stats.claims.holm import rounds_needed
from heapwise.store import read_run, run_ids


def stored_run(tmp_path: Path) -> Any:
    store = tmp_path / "store"
    return read_run(store, run_ids(store)[-1])


def test_every_row_of_the_json_has_the_documented_keys(heapwise: Any, fake_native: Path) -> None:
    done = heapwise(
        "run",
        "fake/subjects",
        "--subjects",
        "good,slower",
        "--rounds",
        "6",
        "--json",
        env={"HEAPWISE_NATIVE": str(fake_native)},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result) >= {"run", "rows", "trust", "advice"}
    assert {row["subject"] for row in result["rows"]} >= {"good", "slower"}
    for row in result["rows"]:
        assert set(row) >= {
            "subject",
            "experiment",
            "parameters",
            "unit",
            "n",
            "min",
            "median",
            "mean",
            "max",
            "stddev",
            "ci_low",
            "ci_high",
            "ratio",
            "ratio_low",
            "ratio_high",
        }
    ratios = {row["subject"]: row["ratio"] for row in result["rows"]}
    assert ratios["slower"] == pytest.approx(20.01 / 10.01, rel=0.01)


def test_each_round_has_every_cell_and_the_control(
    heapwise: Any, fake_native: Path, tmp_path: Path
) -> None:
    heapwise(
        "run",
        "fake/subjects",
        "--subjects",
        "slower",
        "--rounds",
        "2",
        "--quiet",
        env={"HEAPWISE_NATIVE": str(fake_native)},
    )
    stored = stored_run(tmp_path)
    seen = sorted((p.round, p.subject, p.parameters["size"]) for p in planned_processes(stored))
    assert seen == sorted(
        (round, subject, size)
        for round in (0, 1)
        for subject in ("good", "good-control", "slower")
        for size in (8, 64)
    )
    assert all(s.warm_up == (s.repeat == 0) for s in stored.samples)
    assert len(stored.samples) == 3 * len(stored.processes)


@pytest.mark.parametrize(
    ("subject", "status", "words"),
    [
        ("crash", "crashed", "SIGSEGV"),
        ("hang", "timed_out", "no end after"),
        ("refuse", "refused", "one processor only"),
        ("wrong_work", "failed", "7 distinct blocks"),
        ("exits_5", "failed", "exit code 5"),
        ("torn", "failed", "without its last line"),
        ("misspelt", "failed", "cannot be understood"),
        ("noisy", "ok", ""),
    ],
)
def test_misbehaviour_has_a_status_and_costs_nobody_else(
    heapwise: Any, fake_native: Path, tmp_path: Path, subject: str, status: str, words: str
) -> None:
    limit = "5s" if subject == "hang" else "60s"
    done = heapwise(
        "run",
        "fake/subjects",
        "--subjects",
        subject,
        "--smoke",
        "--timeout",
        limit,
        env={"HEAPWISE_NATIVE": str(fake_native)},
    )
    stored = stored_run(tmp_path)
    found = {p.subject: p for p in stored.processes}
    assert found[subject].status == status
    assert words in found[subject].reason
    assert found["good"].status == "ok"
    assert found["good-control"].status == "ok"
    assert done.returncode == (0 if status in ("ok", "refused") else 3), done.stderr
    assert stored.run.state == "complete"
    if subject == "crash":
        assert "about to fall" in found[subject].facts.stderr_tail
    if subject == "noisy":
        assert found[subject].facts.noise_lines == 2


def test_a_subject_that_fails_three_times_is_left_out(
    heapwise: Any, fake_native: Path, tmp_path: Path
) -> None:
    done = heapwise(
        "run",
        "fake/subjects",
        "--subjects",
        "crash",
        "--rounds",
        "5",
        "--set",
        "size=8",
        env={"HEAPWISE_NATIVE": str(fake_native)},
    )
    by_subject = [p.subject for p in planned_processes(stored_run(tmp_path))]
    assert by_subject.count("crash") == 3
    assert by_subject.count("good") == 5
    assert "left out" in done.stderr
    assert done.returncode == 3


def test_a_cell_that_runs_out_of_time_three_times_is_given_up_and_the_others_go_on(
    heapwise: Any, fake_native: Path, tmp_path: Path
) -> None:
    done = heapwise(
        "run",
        "fake/subjects",
        "--subjects",
        "hang_64",
        "--rounds",
        "5",
        "--timeout",
        "4s",
        "--set",
        "size=8,64",
        env={"HEAPWISE_NATIVE": str(fake_native)},
    )
    tried = [
        (p.parameters["size"], p.status)
        for p in planned_processes(stored_run(tmp_path))
        if p.subject == "hang_64"
    ]
    assert tried.count((64, "timed_out")) == 3
    assert tried.count((8, "ok")) == 5
    assert len(tried) == 8
    assert "hang_64 with size=64 mode=a: no end after 4 s, three times; left out" in done.stderr
    assert done.returncode == 3


def test_malloc_is_expanded_and_its_identity_demanded(
    heapwise: Any,
    fake_native: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
) -> None:
    """V1: the fake says that its malloc is glibc's whatever is preloaded, which is not believed."""
    from heapwise.catalog import installed_peers, system_library

    monkeypatch.setenv("XDG_DATA_HOME", environment["XDG_DATA_HOME"])
    monkeypatch.setenv("HEAPWISE_NATIVE", str(fake_native))
    libc = system_library()
    done = heapwise(
        "run",
        "fake/single",
        "--smoke",
        "--json",
        "--strict",
        env={"HEAPWISE_NATIVE": str(fake_native), "FAKE_MALLOC": libc},
    )
    status = {p.subject: p.status for p in stored_run(tmp_path).processes}
    others = [f"malloc@{peer.name}" for peer in installed_peers() if peer.path]
    assert others, "no peer is installed"
    assert status["malloc@glibc"] == "ok"
    assert all(status[name] == "wrong_allocator" for name in others)
    assert done.returncode == 4
    checks = {c["id"]: c["verdict"] for c in json.loads(done.stdout)["trust"]["checks"]}
    assert checks["V1"] == "fail"


def test_settings_and_repeats_reach_the_binary(
    heapwise: Any, fake_native: Path, tmp_path: Path
) -> None:
    heapwise(
        "run",
        "fake/subjects",
        "--subjects",
        "good",
        "--set",
        "size=1,2,3",
        "--set",
        "mode=zz",
        "--repeats",
        "5",
        "--rounds",
        "1",
        "--quiet",
        env={"HEAPWISE_NATIVE": str(fake_native)},
    )
    processes = stored_run(tmp_path).processes
    assert {(p.parameters["size"], p.parameters["mode"]) for p in processes} == {
        (1, "zz"),
        (2, "zz"),
        (3, "zz"),
    }
    assert {p.facts.start.parameters["size"] for p in processes} == {"1", "2", "3"}
    assert len(stored_run(tmp_path).samples) == 5 * len(processes)


def test_a_family_is_named_without_a_pattern(heapwise: Any, fake_native: Path) -> None:
    env = {"HEAPWISE_NATIVE": str(fake_native)}
    plans = [
        json.loads(heapwise("run", name, "--dry-run", "--json", "--seed", "1", env=env).stdout)[
            "plan"
        ]["experiments"]
        for name in ("fake", "fake/", "fake/*")
    ]
    assert plans == [["fake/single", "fake/subjects"]] * 3


def test_a_dry_run_measures_nothing(heapwise: Any, fake_native: Path, tmp_path: Path) -> None:
    done = heapwise("run", "all", "--dry-run", "--json", env={"HEAPWISE_NATIVE": str(fake_native)})
    assert done.returncode == 0
    assert json.loads(done.stdout)["processes"] > 0
    assert run_ids(tmp_path / "store") == []


def test_the_seed_decides_the_order(heapwise: Any, fake_native: Path, tmp_path: Path) -> None:
    orders = []
    for seed in ("1", "1"):
        heapwise(
            "run",
            "fake/subjects",
            "--subjects",
            "good,slower,noisy",
            "--rounds",
            "2",
            "--seed",
            seed,
            "--quiet",
            env={"HEAPWISE_NATIVE": str(fake_native)},
        )
        orders.append(
            [(p.subject, p.parameters["size"]) for p in planned_processes(stored_run(tmp_path))]
        )
    assert orders[0] == orders[1]


def test_list_json(heapwise: Any, fake_native: Path) -> None:
    done = heapwise("list", "--json", env={"HEAPWISE_NATIVE": str(fake_native)})
    found = json.loads(done.stdout)
    assert [e["id"] for e in found] == ["fake/single", "fake/subjects"]
    for experiment in found:
        assert set(experiment) >= {
            "id",
            "family",
            "question",
            "unit",
            "better",
            "parameters",
            "published",
        }


def test_a_binary_that_does_not_describe_itself_is_left_out(
    heapwise: Any, fake_native: Path
) -> None:
    broken = fake_native / "experiments" / "fake" / "broken"
    broken.write_text("#!/bin/sh\nexit 9\n")
    broken.chmod(0o755)
    done = heapwise("list", env={"HEAPWISE_NATIVE": str(fake_native)})
    assert done.returncode == 0
    assert "broken is left out: --describe ended with 9" in done.stderr
    assert "fake/subjects" in done.stdout


def test_the_plan_is_as_many_rounds_as_the_comparisons_need_or_the_time(
    heapwise: Any, fake_native: Path, tmp_path: Path
) -> None:
    env = {"HEAPWISE_NATIVE": str(fake_native)}
    planned = heapwise("run", "fake/subjects", "--dry-run", "--json", env=env)
    plan = json.loads(planned.stdout)["plan"]
    others = sum(not (s["baseline"] or s["control"]) for s in plan["subjects"])
    assert plan["max_rounds"] == rounds_needed(others) > 6
    done = heapwise(
        "run", "fake/subjects", "--subjects", "good", "--set", "size=8", "--time", "1ms", env=env
    )
    assert done.returncode == 0, done.stderr
    assert "Ended    after 1 of 6 rounds: the time is up" in done.stdout
    stored = stored_run(tmp_path)
    assert [p.round for p in stored.processes] == [0, 0]
    assert stored.run.state == "complete"


def test_facts_of_the_launcher_are_stored(heapwise: Any, fake_native: Path, tmp_path: Path) -> None:
    """V7 can judge it: the child's own peak, from a launcher that is small itself."""
    done = heapwise(
        "run",
        "fake/subjects",
        "--subjects",
        "good",
        "--smoke",
        "--json",
        env={"HEAPWISE_NATIVE": str(fake_native)},
    )
    for process in stored_run(tmp_path).processes:
        assert process.facts.peak_rss_bytes > process.facts.launcher_rss_bytes > 0
        assert process.facts.spin_before_ns > 0
        assert process.facts.affinity
    checks = {c["id"]: c["verdict"] for c in json.loads(done.stdout)["trust"]["checks"]}
    assert checks["V7"] == "pass"


def verdict_of_counting(done: Any) -> dict[str, Any]:
    checks = json.loads(done.stdout)["trust"]["checks"]
    found: dict[str, Any] = next(check for check in checks if check["id"] == "V4")
    return found


def test_the_calls_of_malloc_arrive(heapwise: Any, built_native: Path, tmp_path: Path) -> None:
    done = heapwise(
        "run", "pool/bulk", "pool/interleaved", "--smoke", "--subjects", "malloc@glibc", "--json"
    )
    assert verdict_of_counting(done)["verdict"] == "pass", done.stderr
    counting = [p for p in stored_run(tmp_path).processes if p.facts.counting]
    assert [(p.experiment, p.subject, p.round, p.warm_up) for p in counting] == [
        ("pool/bulk", "malloc@glibc", -1, True),
        ("pool/interleaved", "malloc@glibc", -1, True),
    ]
    for process in counting:
        assert process.facts.calls.malloc >= process.facts.end.expected_calls > 0
    numbers = {p.number for p in counting}
    assert not [s for s in stored_run(tmp_path).samples if s.process in numbers]


def test_calls_that_never_arrive_are_noticed(
    heapwise: Any, built_native: Path, fake_native: Path
) -> None:
    """V4: the fake claims ten milliards of calls, and the counter sees what there were."""
    from heapwise.catalog import COUNTER

    (fake_native / COUNTER).symlink_to(built_native / COUNTER)
    done = heapwise(
        "run",
        "fake/single",
        "--smoke",
        "--subjects",
        "malloc@glibc",
        "--json",
        "--strict",
        env={"HEAPWISE_NATIVE": str(fake_native), "FAKE_CALLS": "10000000000"},
    )
    assert verdict_of_counting(done)["verdict"] == "fail", done.stderr
    assert done.returncode == 4
