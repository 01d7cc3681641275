"""What is known of a computer beyond what every one has: the facts of a ``Machine``."""

from __future__ import annotations

import msgspec

from heapwise.model.facts import Count, Number

MachineSetting = bool | Number | str | None


class Quiet(msgspec.Struct, frozen=True, kw_only=True):
    """Whether other work used the machine: load, and ticks and pressure since boot."""

    load: list[Number] | None = None
    steal_ticks: Count | None = None
    ticks_per_s: Count | None = None
    running: Count | None = None
    psi_cpu_us: Count | None = None
    psi_memory_us: Count | None = None
    psi_io_us: Count | None = None


class MachineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """``settings`` maps names of the kernel's and the cgroup's settings to their values: those that
    must be the same after a run as before it. ``processor``: vendor, family, model, stepping and
    microcode, which tell processors apart that a hypervisor gives one name."""

    architecture: str = ""
    processor: dict[str, str] = {}
    settings: dict[str, MachineSetting] = {}
    quiet: Quiet = msgspec.field(default_factory=Quiet)
    memory: dict[str, Count | None] = {}
    affinity: list[Count] = []
    smt_siblings: list[list[Count]] = []
    virtual: bool | None = None
    uptime_s: Number | None = None
    cpufreq_driver: str | None = None
    cpufreq_governors: list[str] | None = None
    cpufreq_max_khz: Count | None = None
    turbo: bool | None = None
