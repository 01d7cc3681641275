"""The machine, read from this one and from files that other machines would have."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import pytest

from heapwise.machine import cgroups, counters, kernel, kernel_files, processor, read_machine
from heapwise.model import MachineFacts
from heapwise.processors import cpu_list


def test_this_machine() -> None:
    machine = read_machine()
    assert machine.cores == os.cpu_count()
    assert machine.memory_bytes == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert machine.page_bytes == os.sysconf("SC_PAGE_SIZE")
    assert platform.release() in machine.kernel
    assert machine.libc.startswith("glibc ")
    assert machine.facts.affinity == sorted(os.sched_getaffinity(0))
    settings = machine.facts.settings
    assert settings["max_map_count"] == int(Path("/proc/sys/vm/max_map_count").read_text())
    assert settings["overcommit_memory"] in (0, 1, 2)
    assert machine.facts.quiet.steal_ticks >= 0


def test_settings_stay_the_same_when_nobody_changes_them() -> None:
    assert read_machine().facts.settings == read_machine().facts.settings


def test_a_machine_that_cannot_be_read_is_not_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may hide /proc and /sys."""

    def refuse(self: Path, *args: Any, **kwargs: Any) -> str:
        raise PermissionError(13, "hidden")

    monkeypatch.setattr(Path, "read_text", refuse)
    machine = read_machine()
    assert machine.memory_bytes == 0
    assert machine.facts.settings["thp"] is None
    assert machine.facts.quiet.steal_ticks is None
    assert "psi" in machine.unavailable


@pytest.mark.parametrize(
    ("text", "cpus"), [("0", [0]), ("0-3", [0, 1, 2, 3]), ("0-1,6", [0, 1, 6]), ("3,1", [3, 1])]
)
def test_cpu_list(text: str, cpus: list[int]) -> None:
    assert cpu_list(text) == cpus


@pytest.mark.parametrize("text", ["", "a", "3-", "4-2", "1,,2", "-1"])
def test_no_cpu_list(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        cpu_list(text)


def test_frequency_of_a_desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tmp_path / "cpufreq" / "policy0"
    policy.mkdir(parents=True)
    (policy / "scaling_governor").write_text("powersave\n")
    (policy / "scaling_driver").write_text("intel_pstate\n")
    (policy / "scaling_max_freq").write_text("3900000\n")
    (tmp_path / "intel_pstate").mkdir()
    (tmp_path / "intel_pstate" / "no_turbo").write_text("0\n")
    monkeypatch.setattr(processor, "CPUS", tmp_path)
    unavailable: dict[str, str] = {}
    facts = processor.with_frequency(MachineFacts(), unavailable)
    assert facts == MachineFacts(
        cpufreq_driver="intel_pstate",
        cpufreq_governors=["powersave"],
        cpufreq_max_khz=3900000,
        turbo=True,
    )
    assert unavailable == {}


def test_a_missing_frequency_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """V12: then only the calibrated spin watches the clock."""
    monkeypatch.setattr(processor, "CPUS", tmp_path)
    unavailable: dict[str, str] = {}
    processor.with_frequency(MachineFacts(), unavailable)
    assert unavailable["cpufreq"].startswith("no cpufreq")


def test_the_kind_of_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    described = {
        "vendor_id": "AuthenticAMD",
        "cpu family": "25",
        "model": "1",
        "model name": "AMD EPYC",
        "stepping": "1",
    }
    monkeypatch.setattr(processor, "fields", lambda path: described)
    assert processor.identity() == {
        "vendor": "AuthenticAMD",
        "family": "25",
        "model": "1",
        "stepping": "1",
    }
    arm = {"CPU implementer": "0x41", "CPU part": "0xd0c", "CPU revision": "1"}
    monkeypatch.setattr(processor, "fields", lambda path: arm)
    assert processor.identity() == {"vendor": "0x41", "model": "0xd0c", "stepping": "1"}


def test_siblings_share_a_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """V11: two threads of a core are printed, since they are not two processors."""
    for cpu, text in ((0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(text + "\n")
    monkeypatch.setattr(processor, "CPUS", tmp_path)
    assert processor.siblings() == [[0, 2], [1, 3]]


def test_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for index, (level, kind, size) in enumerate(
        (("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2M"))
    ):
        folder = tmp_path / "cpu0" / "cache" / f"index{index}"
        folder.mkdir(parents=True)
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(text)
    monkeypatch.setattr(processor, "CPUS", tmp_path)
    assert processor.caches() == {"L1d": 48 * 1024, "L1i": 32 * 1024, "L2": 2 * 1024**2}


def test_counters_are_open_or_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """V14: what the kernel answers is passed on; an unknown processor is admitted."""
    answer = counters.hardware_counters()
    assert answer == "" or answer.startswith("perf_event_open: ")
    monkeypatch.setattr(platform, "machine", lambda: "vax")
    assert "vax" in counters.hardware_counters()


def test_cgroup_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory.max").write_text("1073741824\n")
    (tmp_path / "cpu.max").write_text("max 100000\n")
    monkeypatch.setattr(cgroups, "CGROUPS", tmp_path)
    limits = kernel.cgroup_limits()
    assert limits["cgroup_memory_max"] == "1073741824"
    assert limits["cgroup_cpu_max"] is None


def test_the_chosen_word_is_in_brackets() -> None:
    assert kernel_files.bracketed("always [madvise] never") == "madvise"
    assert kernel_files.bracketed("performance") == "performance"
    assert kernel_files.bracketed(None) is None
