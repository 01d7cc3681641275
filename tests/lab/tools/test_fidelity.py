"""How replays are judged by the real programs, on figures that were made up; and one real run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from fidelity.measure import COMMANDS_S, Wanted, busiest_process, estimate_s, figures
from fidelity.model import (
    Compared,
    Figure,
    Measured,
    Replayed,
    Results,
    load_results,
    pairs,
    save_results,
)
from fidelity.page import agreement, page, peak_error, rows
from recording.measure import recorder

ROOT = Path(__file__).resolve().parents[3]
MIB = float(1 << 20)


def figure(median: float, base: float, verdict: str) -> Figure:
    return Figure(median, median / base, median / base - 0.01, median / base + 0.01, verdict)


def measured(
    real_s: float = 0.9, verdict: str = "better", played_ns: float = 80, peak_mib: float = 12
) -> Measured:
    """A program of 1 s with a million calls, under one allocator beside glibc."""
    return Measured(
        "cpu",
        Compared(
            {"glibc": Figure(1.0), "other": figure(real_s, 1.0, verdict)},
            {"glibc": Figure(10 * MIB), "other": figure(peak_mib * MIB, 10 * MIB, "worse")},
        ),
        Replayed(
            {"glibc": Figure(100), "other": figure(played_ns, 100, "better")},
            {"glibc": Figure(6 * MIB), "other": figure(7 * MIB, 6 * MIB, "worse")},
            1_000_000,
            1,
            "pass",
        ),
        "",
        9,
        0.1,
    )


def results(**programs: Measured) -> Results:
    return Results("Test CPU", 2, {"glibc": 1 * MIB, "other": 2 * MIB}, programs)


def test_the_predicted_change_is_that_of_the_calls_over_the_programs_time() -> None:
    [pair] = pairs(results(a=measured()))
    assert pair.predicted == pytest.approx(-20e-9 * 1e6 / 1.0)
    assert pair.found == pytest.approx(-0.1)
    assert pair.agrees


def test_the_predicted_peak_adds_what_the_library_itself_takes() -> None:
    """10 MiB, one more by the replay, and one more of an empty program: 12 MiB."""
    [pair] = pairs(results(a=measured()))
    assert pair.peak_error == pytest.approx(0)
    [pair] = pairs(results(a=measured(peak_mib=15)))
    assert pair.peak_error == pytest.approx(12 / 15 - 1)


def test_only_pairs_that_compare_is_sure_of_are_judged() -> None:
    found = pairs(
        results(
            a=measured(), b=measured(played_ns=120), c=measured(real_s=1.1, verdict="cannot tell")
        )
    )
    agreed = agreement(found)
    assert agreed is not None
    assert (agreed.hits, agreed.rows) == (1, 2)
    assert agreement(pairs(results(c=measured(verdict="no difference")))) is None
    assert peak_error([]) is None


def test_the_page_says_what_is_met_and_what_was_refused() -> None:
    refused = Measured("cpu", None, None, "it starts 3 other processes", 9, 0.1)
    found = results(a=measured(), b=measured(played_ns=120), g=refused)
    assert [met for *_, met in rows(found)] == [False, False, True, True]
    text = page(found)
    assert "| a | other | -10.0%, sure | -2.0%, sure | same | +0.0% |" in text
    assert "| b | other | -10.0%, sure | +2.0%, sure | **other** |" in text
    assert "- g: it starts 3 other processes." in text
    assert "Of all 2 pairs, sure or not, 1 have the sign" in text
    assert "load average" not in text


def test_of_several_processes_the_busiest_is_played_and_its_peak_not_judged() -> None:
    one = measured()
    assert one.replayed is not None
    replayed = msgspec.structs.replace(one.replayed, share=0.97, processes=3)
    found = results(a=one, g=msgspec.structs.replace(one, replayed=replayed))
    assert [pair.peak_error is None for pair in pairs(found)] == [False, True]
    assert "- g: 97.0% of the events of 3 processes." in page(found)
    assert "Programs of several processes" not in page(results(a=one))


def test_the_busiest_process_is_found_in_a_real_trace(tmp_path: Path) -> None:
    """A shell that starts a Python: the Python makes nearly all events."""
    trace = tmp_path / "trace.hwt"
    python = f"{sys.executable} -I -c 'print([str(n) for n in range(100000)][-1])'"
    subprocess.run(
        [*recorder(trace, follows=True), "sh", "-c", f"{python}; :"], check=True, timeout=120
    )
    recorded = json.loads(Path(f"{trace}.json").read_text())["processes"]
    found = busiest_process(recorded)
    assert found.trace != trace
    assert (found.processes, found.threads) == (2, 1)
    assert 0.9 < found.share < 1


def test_figures_are_kept_whole(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "kept.json"
    assert load_results(file) == Results()
    save_results(file, results(a=measured()))
    assert load_results(file) == results(a=measured())
    assert [path.name for path in file.parent.iterdir()] == ["kept.json"]


def test_rows_of_the_second_label_and_of_other_schedules_stay_out() -> None:
    def row(subject: str, schedule: str) -> dict[str, object]:
        return {
            "subject": subject,
            "median": 2.0,
            "ratio": None,
            "ratio_low": None,
            "ratio_high": None,
            "verdict": "baseline",
            "parameters": {"quantity": "time", "schedule": schedule},
        }

    result = {
        "rows": [
            row("malloc@glibc", "fast"),
            row("malloc@glibc-control", "fast"),
            row("malloc@glibc", "order"),
        ]
    }
    assert figures(result, "time", schedule="fast") == {"glibc": Figure(2.0)}
    assert figures(result, "peak_memory") == {}


def test_the_estimate_grows_with_rounds_and_allocators(tmp_path: Path) -> None:
    few = estimate_s(1.0, Wanted(["a"], 2, tmp_path))
    assert few == pytest.approx(COMMANDS_S + 3 + 6 + 12 * 1.1)
    assert estimate_s(1.0, Wanted(["a", "b"], 2, tmp_path)) > few


@pytest.mark.long
def test_a_real_program_is_compared_and_replayed_once(tmp_path: Path) -> None:
    """The second time it has nothing to do: what the file has is not measured again."""
    kept, text = tmp_path / "kept.json", tmp_path / "page.md"
    command = [
        sys.executable,
        "-m",
        "fidelity",
        "--results",
        str(kept),
        "--small",
        "--program",
        "lua",
        "--allocators",
        "heapwise",
        "--rounds",
        "2",
    ]
    done = subprocess.run(
        command, cwd=ROOT / "tools", capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    found = load_results(kept).programs["lua"]
    assert found.refused == ""
    assert found.compared is not None
    assert found.replayed is not None
    assert set(found.compared.time) == set(found.replayed.peak) == {"glibc", "heapwise"}
    assert found.replayed.trust == "pass"
    before = kept.stat().st_mtime_ns
    subprocess.run([*command, "--page", str(text)], cwd=ROOT / "tools", check=True, timeout=120)
    assert kept.stat().st_mtime_ns == before
    assert "lua | heapwise" in text.read_text()
