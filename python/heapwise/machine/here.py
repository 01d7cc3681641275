"""The machine under our feet, put together from its parts."""

from __future__ import annotations

import getpass
import hashlib
import os
import platform
import socket

from heapwise.machine import counters, kernel, processor, quiet
from heapwise.machine.kernel_files import fields, read_text
from heapwise.model import Machine, MachineFacts, hardware
from heapwise.processors import usable_processors

NAME_VARIABLE = "HEAPWISE_MACHINE"


def read_machine() -> Machine:
    """Never fails: what the machine does not show is in ``unavailable``, with the reason.

    Taken before and after a run; V19 compares ``facts.settings``, V13 ``facts.quiet``.
    """
    unavailable: dict[str, str] = {}
    facts = processor.with_frequency(
        MachineFacts(
            architecture=platform.machine(),
            processor=processor.identity(),
            settings=kernel.settings(),
            quiet=quiet.neighbours(),
            memory=kernel.memory_now(),
            affinity=usable_processors(),
            smt_siblings=processor.siblings(),
            virtual=_virtual(),
            uptime_s=_uptime_s(),
        ),
        unavailable,
    )
    if reason := counters.hardware_counters():
        unavailable["hardware_counters"] = reason
    if facts.quiet.psi_cpu_us is None:
        unavailable["psi"] = "the kernel keeps no pressure figures"
    return Machine(
        host=socket.gethostname(),
        user=_user(),
        cpu=processor.model(),
        cores=os.cpu_count() or 1,
        memory_bytes=kernel.memory_bytes(),
        caches=processor.caches(),
        kernel=f"{platform.system()} {platform.release()}",
        distribution=_distribution(),
        libc=_libc(),
        page_bytes=os.sysconf("SC_PAGE_SIZE"),
        facts=facts,
        unavailable=unavailable,
        name=os.environ.get(NAME_VARIABLE, "").strip(),
    )


def machine_fingerprint(machine: Machine) -> str:
    """A hash of what decides how well can be measured here: 16 hexadecimal digits."""
    parts = (hardware(machine), machine.kernel, machine.libc)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no entry in passwd: usual in containers
        return str(os.getuid())


def _distribution() -> str:
    release = fields("/etc/os-release", "=")
    return release.get("PRETTY_NAME") or release.get("NAME") or "unknown"


def _libc() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "unknown"
    except (ValueError, OSError):
        return "not glibc"


def _virtual() -> bool | None:
    flags = fields("/proc/cpuinfo").get("flags")
    return None if flags is None else "hypervisor" in flags.split()


def _uptime_s() -> float | None:
    words = (read_text("/proc/uptime") or "").split()
    return float(words[0]) if words else None
