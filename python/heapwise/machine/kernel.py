"""Settings of the kernel and of the cgroup that move memory figures about (V19)."""

from __future__ import annotations

from heapwise.machine.cgroups import own_group
from heapwise.machine.kernel_files import bracketed, fields, read_number, read_text
from heapwise.model.cell import Setting

HUGE = "/sys/kernel/mm/transparent_hugepage"


def settings() -> dict[str, Setting]:
    """Those that must be the same after the run as before it; None where the kernel has none."""
    return {
        "thp": bracketed(read_text(f"{HUGE}/enabled")),
        "thp_defrag": bracketed(read_text(f"{HUGE}/defrag")),
        "overcommit_memory": read_number("/proc/sys/vm/overcommit_memory"),
        "overcommit_ratio": read_number("/proc/sys/vm/overcommit_ratio"),
        "max_map_count": read_number("/proc/sys/vm/max_map_count"),
        "swappiness": read_number("/proc/sys/vm/swappiness"),
        "swap_total_bytes": _kib("SwapTotal"),
        "numa_balancing": read_number("/proc/sys/kernel/numa_balancing"),
        "aslr": read_number("/proc/sys/kernel/randomize_va_space"),
        "personality": read_text("/proc/self/personality"),
        **cgroup_limits(),
    }


def memory_bytes() -> int:
    return _kib("MemTotal") or 0


def memory_now() -> dict[str, int | None]:
    return {
        "memory_available_bytes": _kib("MemAvailable"),
        "swap_free_bytes": _kib("SwapFree"),
    }


def cgroup_limits() -> dict[str, Setting]:
    """Limits of our own cgroup (v2); None where there is none or it is ``max``."""
    folder = own_group()
    limits = {
        name: read_text(folder / file)
        for name, file in (
            ("cgroup_memory_max", "memory.max"),
            ("cgroup_memory_high", "memory.high"),
            ("cgroup_cpu_max", "cpu.max"),
            ("cgroup_cpus", "cpuset.cpus.effective"),
        )
    }
    return {name: None if text in ("max", "max 100000") else text for name, text in limits.items()}


def _kib(key: str) -> int | None:
    words = fields("/proc/meminfo").get(key, "").split()
    return int(words[0]) * 1024 if words else None
