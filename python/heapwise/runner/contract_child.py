"""Runs in a process into which an allocator was preloaded, and asks it what malloc promises.

A script of its own: imports nothing of ours, prints one JSON object: each promise and what was
wrong with it; "" when it was kept. They are those of ISO C (malloc, calloc, realloc,
aligned_alloc), POSIX (posix_memalign) and glibc (malloc_usable_size).
"""

from __future__ import annotations

import ctypes
import errno
import json
import random
import sys
import threading
from collections.abc import Callable

C = ctypes.CDLL(None, use_errno=True)
SIZE, POINTER = ctypes.c_size_t, ctypes.c_void_p
SIZES = [1, 7, 8, 16, 24, 48, 64, 100, 128, 511, 512, 4096, 5000, 65536, 300_000, 5_000_000]
ALIGNMENTS = [16, 32, 64, 256, 4096, 65536]
MALLOC_ALIGNMENT = 16
BEYOND_ADDRESS_SPACE = 2**63


class Promise(Exception):
    """A promise that was not kept."""


def declare() -> None:
    for name, result, arguments in (
        ("malloc", POINTER, [SIZE]),
        ("calloc", POINTER, [SIZE, SIZE]),
        ("realloc", POINTER, [POINTER, SIZE]),
        ("free", None, [POINTER]),
        ("aligned_alloc", POINTER, [SIZE, SIZE]),
        ("malloc_usable_size", SIZE, [POINTER]),
        ("posix_memalign", ctypes.c_int, [ctypes.POINTER(POINTER), SIZE, SIZE]),
    ):
        function = getattr(C, name)
        function.restype, function.argtypes = result, arguments


def need(kept: bool, what: str) -> None:
    if not kept:
        raise Promise(what)


def block(size: int) -> int:
    address = C.malloc(size)
    need(bool(address), f"malloc({size}) gave nothing")
    return int(address)


def fill(address: int, size: int, byte: int) -> None:
    ctypes.memset(address, byte, size)


def holds(address: int, size: int, byte: int) -> bool:
    return ctypes.string_at(address, size) == bytes([byte]) * size


def malloc_gives_aligned_blocks() -> None:
    for size in SIZES:
        address = block(size)
        need(
            address % (MALLOC_ALIGNMENT if size >= 16 else 8) == 0,
            f"malloc({size}) gave {address:#x}",
        )
        fill(address, size, 0xA5)
        C.free(address)
    C.free(C.malloc(0))
    C.free(None)


def blocks_do_not_overlap() -> None:
    chance = random.Random(1)
    held: list[tuple[int, int, int]] = []
    for number in range(20_000):
        if held and chance.random() < 0.45:
            address, size, byte = held.pop(chance.randrange(len(held)))
            need(holds(address, size, byte), f"a block of {size} bytes was changed by another")
            C.free(address)
        size = chance.choice(SIZES[:13])
        address = block(size)
        fill(address, size, number % 251)
        held.append((address, size, number % 251))
    for address, size, byte in held:
        need(holds(address, size, byte), f"a block of {size} bytes was changed by another")
        C.free(address)


def calloc_gives_zeros() -> None:
    for size in SIZES:
        dirty = block(size)
        fill(dirty, size, 0xFF)
        C.free(dirty)
        address = C.calloc(1, size)
        need(bool(address), f"calloc(1, {size}) gave nothing")
        need(holds(address, size, 0), f"calloc(1, {size}) gave a dirty block")
        C.free(address)


def impossible_sizes_are_refused() -> None:
    for name, address in (
        ("malloc", C.malloc(BEYOND_ADDRESS_SPACE)),
        ("calloc", C.calloc(2**33, 2**33)),
    ):
        need(not address, f"{name} of more than there can be gave {address}")


def realloc_keeps_the_content() -> None:
    address, before = C.realloc(None, 1), 1
    fill(address, 1, 0x5A)
    for size in [*SIZES[1:], *reversed(SIZES)]:
        address = C.realloc(address, size)
        need(bool(address), f"realloc to {size} gave nothing")
        need(holds(address, min(before, size), 0x5A), f"realloc from {before} to {size} lost bytes")
        fill(address, size, 0x5A)
        before = size
    C.free(address)


def alignment_is_obeyed() -> None:
    for alignment in ALIGNMENTS:
        for size in (alignment, 3 * alignment):
            address = C.aligned_alloc(alignment, size)
            need(
                bool(address) and address % alignment == 0,
                f"aligned_alloc({alignment}, {size}) gave {address}",
            )
            fill(address, size, 1)
            C.free(address)
            place = POINTER()
            code = C.posix_memalign(ctypes.byref(place), alignment, size + 1)
            need(
                code == 0 and (place.value or 1) % alignment == 0,
                f"posix_memalign({alignment}, {size + 1}) gave {place.value}, code {code}",
            )
            C.free(place)
    place = POINTER()
    need(
        C.posix_memalign(ctypes.byref(place), 24, 64) == errno.EINVAL,
        "posix_memalign took 24, which is not a power of two",
    )


def usable_size_is_enough() -> None:
    need(C.malloc_usable_size(None) == 0, "malloc_usable_size(NULL) is not 0")
    for size in SIZES:
        address = block(size)
        usable = int(C.malloc_usable_size(address))
        need(usable >= size, f"malloc_usable_size is {usable} for {size} bytes")
        fill(address, usable, 0x3C)
        C.free(address)


def other_threads_may_free() -> None:
    addresses = [block(64 + number % 500) for number in range(5000)]

    def release(part: list[int]) -> None:
        for address in part:
            C.free(address)

    threads = [threading.Thread(target=release, args=(addresses[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    C.free(block(100))


SUITE: list[Callable[[], None]] = [
    malloc_gives_aligned_blocks,
    blocks_do_not_overlap,
    calloc_gives_zeros,
    impossible_sizes_are_refused,
    realloc_keeps_the_content,
    alignment_is_obeyed,
    usable_size_is_enough,
    other_threads_may_free,
]


def main() -> None:
    declare()
    answers = {}
    for promise in SUITE:
        # If the process ends in it, the last such line says where.
        print(f"testing {promise.__name__}", file=sys.stderr, flush=True)
        try:
            promise()
            answers[promise.__name__] = ""
        except Promise as broken:
            answers[promise.__name__] = str(broken)
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
