"""V2: programs in which malloc cannot be replaced are refused, each for its own reason."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from heapwise.catalog import read_elf
from heapwise.errors import Problem
from heapwise.runner import preflight
from heapwise.runner.process.script import interpreter_chain

PLAIN = "#include <stdlib.h>\nint main(void) { return malloc(5) == 0; }\n"
OWN = (
    "#include <stddef.h>\nvoid *{}(size_t n) {{ return (void *)n; }}\n"
    "int main(void) {{ return 0; }}\n"
)


def compiled(folder: Path, source: str, *flags: str) -> Path:
    (folder / "program.c").write_text(source)
    program = folder / "program"
    subprocess.run(
        ["gcc", "-O1", "-fno-builtin", str(folder / "program.c"), "-o", str(program), *flags],
        check=True,
        capture_output=True,
    )
    return program


def refused(program: Path) -> Problem:
    with pytest.raises(Problem) as caught:
        preflight(str(program))
    assert str(program) in caught.value.what
    assert caught.value.do
    return caught.value


def test_a_plain_program_is_supported(tmp_path: Path) -> None:
    found = preflight(str(compiled(tmp_path, PLAIN)))
    assert found.sentence == "dynamic ELF, malloc from libc.so.6, can be replaced"
    assert [(c.id, c.verdict) for c in found.checks] == [("V2", "pass")]
    assert not found.own_allocator


@pytest.mark.parametrize("flag", ["-static", "-static-pie"])
def test_static(tmp_path: Path, flag: str) -> None:
    program = compiled(tmp_path, "int main(void) { return 0; }", flag)
    problem = refused(program)
    assert problem.id == "E020"
    assert "static" in problem.what
    forced = preflight(str(program), force=True).checks[0]
    assert forced.verdict == "fail"
    assert forced.detail.startswith("Impossible: ")


def test_the_loader_of_glibc_is_a_starter(tmp_path: Path) -> None:
    """It runs the program that its argument names, and preloads into that."""
    program = compiled(tmp_path, "int main(void) { return 0; }")
    facts = read_elf(program)
    assert facts is not None
    assert preflight(facts.interpreter).checks[0].verdict == "pass"


@pytest.mark.parametrize(
    "symbol", ["malloc", "je_malloc", "_rjem_malloc", "mi_malloc", "tc_malloc", "scudo_malloc"]
)
def test_own_allocator(tmp_path: Path, symbol: str) -> None:
    program = compiled(tmp_path, OWN.format(symbol))
    problem = refused(program)
    assert problem.id == "E021"
    assert f"symbol {symbol}" in problem.what
    found = preflight(str(program), force=True)
    assert found.own_allocator
    assert found.checks[0].verdict == "warn", "a preloaded malloc is called if it calls malloc too"
    assert found.checks[0].detail.startswith(f"Partial: {program} has its own allocator inside")


def linked_with_a_pool(folder: Path, library: str) -> Path:
    """A program that needs one of two libraries: libpool has a malloc, and libuser needs libpool.
    The loader looks at what a program itself needs first, which is the C library too."""
    places = f"-Wl,-rpath,{folder}", f"-L{folder}", "-Wl,--no-as-needed"
    (folder / "pool.c").write_text(OWN.format("malloc"))
    (folder / "user.c").write_text("int used(void) { return 0; }")
    share = ["gcc", "-shared", "-fPIC", "-fno-builtin", *places]
    subprocess.run([*share, folder / "pool.c", "-o", folder / "libpool.so"], check=True)
    subprocess.run([*share, folder / "user.c", "-o", folder / "libuser.so", "-lpool"], check=True)
    return compiled(folder, "int main(void) { return 0; }", *places, library)


def test_a_linked_library_has_the_malloc_that_is_the_programs_own(tmp_path: Path) -> None:
    found = preflight(str(linked_with_a_pool(tmp_path, "-lpool")))
    assert (found.own_allocator, found.linked) == (True, "libpool.so")
    assert "malloc from libpool.so, can be replaced" in found.sentence
    assert found.checks[0].verdict == "pass"


def test_a_library_that_is_linked_by_its_path_is_named_too(tmp_path: Path) -> None:
    linked_with_a_pool(tmp_path, "-lpool")
    source = "int main(void) { return 0; }"
    program = compiled(tmp_path, source, "-Wl,--no-as-needed", str(tmp_path / "libpool.so"))
    assert preflight(str(program)).linked == "libpool.so"


def test_a_library_that_the_user_preloads_is_not_the_programs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked_with_a_pool(tmp_path, "-lpool")
    program = compiled(tmp_path, PLAIN)
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "libpool.so"))
    assert preflight(str(program)).linked == ""


def test_a_malloc_behind_that_of_the_c_library_is_not_the_one_of_the_program(
    tmp_path: Path,
) -> None:
    found = preflight(str(linked_with_a_pool(tmp_path, "-luser")))
    assert (found.own_allocator, found.linked) == (False, "")
    assert "malloc from libc.so.6" in found.sentence


def test_sanitizer(tmp_path: Path) -> None:
    assert refused(compiled(tmp_path, PLAIN, "-fsanitize=address")).id == "E024"


def test_a_heap_that_asks_for_a_sanitizer_is_not_one(tmp_path: Path) -> None:
    """A weak reference is met by nothing: the allocator inside is the reason."""
    source = (
        "#include <stdlib.h>\n__attribute__((weak)) void __msan_init(void);\n"
        "void *malloc(size_t size) { if (__msan_init) __msan_init(); return (void *)size; }\n"
        "void free(void *block) { (void)block; }\n"
        "int main(void) { return malloc(1) == 0; }\n"
    )
    assert refused(compiled(tmp_path, source, "-fno-builtin")).id == "E021"


def test_go(tmp_path: Path) -> None:
    program = compiled(tmp_path, PLAIN)
    subprocess.run(
        ["objcopy", "--add-section", f".go.buildinfo={tmp_path / 'program.c'}", str(program)],
        check=True,
    )
    assert refused(program).id == "E023"


def test_setuid(tmp_path: Path) -> None:
    program = compiled(tmp_path, PLAIN)
    program.chmod(0o4755)
    assert refused(program).id == "E022"
    program.chmod(0o2755)
    assert "setgid" in refused(program).what
    program.chmod(0o755)
    preflight(str(program))


def test_file_capabilities(tmp_path: Path) -> None:
    program = compiled(tmp_path, PLAIN)
    effective_net_raw = struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0)
    try:
        os.setxattr(program, "security.capability", effective_net_raw)
    except OSError as error:
        pytest.skip(f"capabilities cannot be given here: {error}")
    problem = refused(program)
    assert problem.id == "E022"
    assert "capabilities" in problem.what


def test_other_architecture(tmp_path: Path) -> None:
    program = compiled(tmp_path, PLAIN)
    image = bytearray(program.read_bytes())
    image[18:20] = struct.pack("<H", 243)  # e_machine: RISC-V
    program.write_bytes(image)
    problem = refused(program)
    assert problem.id == "E025"
    assert "RISC-V" in problem.what


def test_musl(tmp_path: Path) -> None:
    program = compiled(tmp_path, PLAIN, "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    assert refused(program).id == "E027"


@pytest.mark.parametrize(
    "content", [b"", b"just words", b"\x7fELF", b"\x7fELF" + b"\xff" * 400, b"MZ\x90\x00"]
)
def test_no_program(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "thing"
    file.write_bytes(content)
    file.chmod(0o755)
    assert refused(file).id == "E026"
    with pytest.raises(Problem):
        preflight(str(file), force=True)


def test_scripts_count_as_their_interpreters(tmp_path: Path) -> None:
    shell = shutil.which("sh")
    assert shell
    for number, line in enumerate(
        (f"#!{shell}", f"#! {shell} -e", "#!/usr/bin/env sh", "#!/usr/bin/env -S sh -e")
    ):
        script = tmp_path / f"job{number}"
        script.write_text(f"{line}\necho\n")
        script.chmod(0o755)
        found = preflight(str(script))
        assert found.image == Path(shell)
        assert found.program == script
        assert f"script run by {shell}" in found.sentence


def test_a_script_of_a_static_interpreter_is_refused(tmp_path: Path) -> None:
    interpreter = compiled(tmp_path, "int main(void) { return 0; }", "-static")
    script = tmp_path / "job"
    script.write_text(f"#!{interpreter}\n")
    script.chmod(0o755)
    with pytest.raises(Problem) as caught:
        preflight(str(script))
    assert caught.value.id in ("E020", "E021")
    assert str(interpreter) in caught.value.what


def test_a_chain_of_scripts(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.write_text("#!/bin/sh\n")
    inner.chmod(0o755)
    outer = tmp_path / "outer"
    outer.write_text(f"#!{inner}\n")
    outer.chmod(0o755)
    assert interpreter_chain(outer) == [outer, inner, Path("/bin/sh")]
