"""Whether the processor's hardware counters can be opened here (V14)."""

from __future__ import annotations

import ctypes
import os
import platform
import struct

SYSCALL_NUMBERS = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319, "s390x": 331}
ATTRIBUTE_BYTES = 128
EXCLUDE_KERNEL_AND_HYPERVISOR = (1 << 5) | (1 << 6)


def hardware_counters() -> str:
    """ "" when instructions can be counted, else the reason in the kernel's words.

    Opens ``PERF_COUNT_HW_INSTRUCTIONS`` for this process, user space only: see perf_event_open(2).
    """
    number = SYSCALL_NUMBERS.get(platform.machine())
    if number is None:
        return f"perf_event_open is not known to us on {platform.machine()}"
    # type, size, config, period, sample_type, read_format, flags: the head of perf_event_attr
    head = struct.pack(
        "=IIQQQQQ", 0, ATTRIBUTE_BYTES, 1, 0, 0, 0, 1 | EXCLUDE_KERNEL_AND_HYPERVISOR
    )
    attribute = ctypes.create_string_buffer(head.ljust(ATTRIBUTE_BYTES, b"\0"), ATTRIBUTE_BYTES)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    descriptor = libc.syscall(
        ctypes.c_long(number),
        attribute,
        ctypes.c_int(0),
        ctypes.c_int(-1),
        ctypes.c_int(-1),
        ctypes.c_ulong(0),
    )
    if descriptor < 0:
        return f"perf_event_open: {os.strerror(ctypes.get_errno())}"
    os.close(descriptor)
    return ""
