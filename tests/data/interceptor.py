"""A library that takes the place of every function that another library asks for.

The functions are written in assembler, since nobody knows what their arguments are: each keeps the
registers of arguments, calls `note` (interceptor.c), and goes on to the function that was meant.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")

COMMON = (
    """\
    .text
common:
    push %rbp
    mov %rsp, %rbp
    and $-16, %rsp
    sub $192, %rsp
    mov %rdi, 0(%rsp)
    mov %rsi, 8(%rsp)
    mov %rdx, 16(%rsp)
    mov %rcx, 24(%rsp)
    mov %r8, 32(%rsp)
    mov %r9, 40(%rsp)
    mov %rax, 48(%rsp)
    mov %r10, 56(%rsp)
"""
    + "".join(f"    movups %xmm{n}, {64 + 16 * n}(%rsp)\n" for n in range(8))
    + """\
    mov %r11d, %edi
    call note@PLT
    mov %rax, %r11
    mov 0(%rsp), %rdi
    mov 8(%rsp), %rsi
    mov 16(%rsp), %rdx
    mov 24(%rsp), %rcx
    mov 32(%rsp), %r8
    mov 40(%rsp), %r9
    mov 48(%rsp), %rax
    mov 56(%rsp), %r10
"""
    + "".join(f"    movups {64 + 16 * n}(%rsp), %xmm{n}\n" for n in range(8))
    + """\
    leave
    jmp *%r11
"""
)


def assembler(names: list[str]) -> str:
    """One function for each name."""
    lines = [COMMON]
    for number, name in enumerate(names):
        lines.append(
            f"    .globl {name}\n    .type {name}, @function\n{name}:\n"
            f"    mov ${number}, %r11d\n    jmp common\n"
        )
    lines.append('    .section .note.GNU-stack, "", @progbits\n')
    return "".join(lines)


def build(names: Iterable[str], folder: Path) -> Path:
    """The library, in `folder`."""
    listed = sorted(names)
    (folder / "names.s").write_text(assembler(listed))
    words = "".join(f'"{name}", ' for name in listed)
    (folder / "names.c").write_text(
        f"const char* const intercepted_names[] = {{{words}}};\n"
        f"const unsigned intercepted_count = {len(listed)};\n"
    )
    library = folder / "libinterceptor.so"
    command = [
        "gcc",
        "-D_GNU_SOURCE",
        "-O1",
        "-fPIC",
        "-shared",
        "-fno-builtin",
        "-o",
        str(library),
        str(SOURCE),
        str(folder / "names.c"),
        str(folder / "names.s"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return library
