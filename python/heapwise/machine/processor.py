"""The processor: model, caches, siblings, and whether its frequency can be seen (V11, V12)."""

from __future__ import annotations

import platform
from pathlib import Path

from msgspec.structs import replace

from heapwise.machine.kernel_files import fields, read_number, read_text
from heapwise.model import MachineFacts
from heapwise.processors import cpu_list

CPUS = Path("/sys/devices/system/cpu")


def model() -> str:
    described = fields("/proc/cpuinfo")
    for key in ("model name", "Model", "Hardware", "cpu"):
        if described.get(key):
            return " ".join(described[key].split())
    implementer, part = described.get("CPU implementer"), described.get("CPU part")
    arch = platform.machine()
    return f"{arch} implementer {implementer} part {part}" if implementer else arch


IDENTITY = {
    "vendor": ("vendor_id", "CPU implementer"),
    "family": ("cpu family", "CPU architecture"),
    "model": ("model", "CPU part"),
    "stepping": ("stepping", "CPU revision"),
    "microcode": ("microcode",),
}
"""What tells processors apart -> its names in /proc/cpuinfo, on x86 and on ARM."""


def identity() -> dict[str, str]:
    """Without those that the kernel does not show."""
    described = fields("/proc/cpuinfo")
    found = {
        name: next((described[key] for key in keys if described.get(key)), "")
        for name, keys in IDENTITY.items()
    }
    return {name: value for name, value in found.items() if value}


def caches() -> dict[str, int]:
    """Name (``L1d``, ``L2`` ...) to size in bytes, as the first core sees them."""
    found: dict[str, int] = {}
    for index in sorted((CPUS / "cpu0" / "cache").glob("index*")):
        level, size = read_text(index / "level"), read_text(index / "size")
        letter = {"Data": "d", "Instruction": "i"}.get(read_text(index / "type") or "", "")
        if level and size:
            found[f"L{level}{letter}"] = _bytes(size)
    return found


def _bytes(size: str) -> int:
    unit = {"K": 1024, "M": 1024**2, "G": 1024**3}.get(size[-1:], 1)
    digits = size.rstrip("KMG")
    return int(digits) * unit if digits.isdigit() else 0


def siblings() -> list[list[int]]:
    """Groups of logical processors that share a core; [] when there is no such thing."""
    groups = {
        tuple(cpu_list(text))
        for path in CPUS.glob("cpu[0-9]*/topology/thread_siblings_list")
        if (text := read_text(path))
    }
    return [list(group) for group in sorted(groups) if len(group) > 1]


def with_frequency(facts: MachineFacts, unavailable: dict[str, str]) -> MachineFacts:
    """Adds what it does not find to ``unavailable``."""
    turbo = _turbo()
    if turbo is None:
        unavailable["turbo"] = "the kernel does not say whether turbo is on"
    policies = sorted((CPUS / "cpufreq").glob("policy*"))
    if not policies:
        unavailable["cpufreq"] = "no cpufreq: the kernel shows no frequency of this processor"
        return replace(facts, turbo=turbo)
    return replace(
        facts,
        turbo=turbo,
        cpufreq_driver=read_text(policies[0] / "scaling_driver"),
        cpufreq_governors=sorted(
            {text for policy in policies if (text := read_text(policy / "scaling_governor"))}
        ),
        cpufreq_max_khz=read_number(policies[0] / "scaling_max_freq"),
    )


def _turbo() -> bool | None:
    no_turbo = read_number(CPUS / "intel_pstate" / "no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boost = read_number(CPUS / "cpufreq" / "boost")
    return None if boost is None else boost == 1
