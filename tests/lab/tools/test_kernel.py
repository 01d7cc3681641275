"""Another kernel in a virtual machine: the parts that need neither the kernel nor the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kernel.archive import Entry, archive
from kernel.guest import Guest
from kernel.machine import Machine, NoEnd
from kernel.package import kernel_image
from kernel.unavailable import Unavailable

HEAD_BYTES = 110


def read(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Name -> mode and content, as the kernel reads them."""
    found: dict[str, tuple[int, bytes]] = {}
    at = 0
    while True:
        head = data[at : at + HEAD_BYTES]
        assert head[:6] == b"070701"
        fields = [int(head[6 + 8 * i : 14 + 8 * i], 16) for i in range(13)]
        mode, size, name_bytes = fields[1], fields[6], fields[11]
        name = data[at + HEAD_BYTES : at + HEAD_BYTES + name_bytes - 1].decode()
        begin = -(-(at + HEAD_BYTES + name_bytes) // 4) * 4
        if name == "TRAILER!!!":
            return found
        found[name] = (mode, data[begin : begin + size])
        at = -(-(begin + size) // 4) * 4


def test_an_archive_has_each_file_below_its_folders() -> None:
    found = read(archive({"/a/b/c": Entry(b"12345", 0o755), "/init": Entry(b"")}))
    assert list(found) == ["a", "a/b", "a/b/c", "init"]
    assert found["a/b"] == (0o040755, b"")
    assert found["a/b/c"] == (0o100755, b"12345")


@pytest.fixture
def busybox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "busybox"
    file.write_text("not a program")
    monkeypatch.setattr("kernel.guest.BUSYBOX", file)
    return file


def test_a_guest_has_programs_with_their_libraries(busybox: Path) -> None:
    guest = Guest()
    guest.add(Path("/usr/bin/env"))
    files = guest.with_command("env")
    assert files["/command"].content == b"env"
    assert files["/init"].mode == 0o755
    assert files["/usr/bin/env"].content == Path("/usr/bin/env").read_bytes()
    assert any(name.endswith("/libc.so.6") for name in files)
    assert any("/ld-linux" in name for name in files)


def test_a_guest_has_whole_folders_without_what_python_keeps(busybox: Path, tmp_path: Path) -> None:
    for name in ("a/b", "a/__pycache__/c"):
        file = tmp_path / "given" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    guest = Guest()
    guest.add(tmp_path / "given")
    assert [name for name in guest.with_command("") if "given" in name] == [
        str(tmp_path / "given/a/b")
    ]


def test_without_busybox_there_is_no_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.guest.BUSYBOX", tmp_path / "none")
    with pytest.raises(Unavailable, match="install busybox-static"):
        Guest()


def fake(folder: Path, name: str, script: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs of Debian and qemu are found."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


QEMU = """
for word in "$@"; do case $word in file:*) set -- "$@" "${word#file:}";; esac; done
while [ $# -gt 3 ]; do shift; done
"""
"""Its arguments are then the files of the three serial lines."""


def test_the_output_and_the_exit_code_come_back(busybox: Path, programs: Path) -> None:
    fake(
        programs,
        "qemu-system-x86_64",
        QEMU + "printf 'one\\r\\ntwo\\r\\n' >$2; printf '3\\r\\n' >$3; echo Linux version >$1",
    )
    ended = Machine(busybox).run(Guest(), "exit 3")
    assert (ended.exit_code, ended.output, ended.console) == (3, "one\ntwo\n", "Linux version\n")


def test_a_guest_that_does_not_end_well_has_no_result(busybox: Path, programs: Path) -> None:
    fake(programs, "qemu-system-x86_64", QEMU + "echo 'Kernel panic' >$1; echo 'no KVM' >&2")
    with pytest.raises(NoEnd, match=r"no KVM\n\nKernel panic"):
        Machine(busybox).run(Guest(), "")
    fake(programs, "qemu-system-x86_64", QEMU + "echo Linux version >$1; exec sleep 60")
    with pytest.raises(NoEnd, match=r"no end after 0\.2 s"):
        Machine(busybox).run(Guest(), "", timeout_s=0.2)


@pytest.mark.long
def test_an_accelerator_with_which_no_kernel_starts_is_left_out(
    busybox: Path, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it ends or hangs."""
    monkeypatch.setattr("kernel.machine.START_S", 15.0)
    for failure in ("exit 1", "exec sleep 60"):
        log = tmp_path / "log"
        fake(
            programs,
            "qemu-system-x86_64",
            f"echo $2 >>{log}; case $2 in *kvm) {failure};; esac\n"
            + QEMU
            + "echo Linux version >$1; echo 0 >$3",
        )
        machine = Machine(busybox)
        assert machine.run(Guest(), "").exit_code == 0
        assert machine.run(Guest(), "").exit_code == 0
        assert log.read_text().split() == ["pc,accel=kvm", "pc,accel=tcg", "pc,accel=tcg"]
        log.unlink()


def test_without_qemu_nothing_is_run(busybox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(busybox.parent))
    with pytest.raises(Unavailable, match="install qemu-system-x86"):
        Machine(busybox).run(Guest(), "")


NAME = "linux-image-6.1.0-1-cloud-amd64"


def test_a_kernel_is_downloaded_once_and_unpacked(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "log"
    fake(programs, "apt-cache", f"echo linux-image-cloud-amd64; echo '  Depends: {NAME}'")
    fake(programs, "apt-get", f'echo "$@" >>{log}; touch "$2_6.1_amd64.deb"')
    fake(
        programs,
        "dpkg",
        'test -e "$2" && mkdir -p "$3/boot"; touch "$3/boot/vmlinuz-6.1.0-1-cloud-amd64"',
    )
    folder = Path("kept")
    image = kernel_image(folder)
    assert image == folder / NAME / "boot/vmlinuz-6.1.0-1-cloud-amd64"
    assert kernel_image(folder) == image
    assert log.read_text() == f"download {NAME}\n"
    assert not list(folder.glob("*.deb"))


@pytest.mark.parametrize(
    ("cache", "get", "reason"),
    [
        ("exit 0", "exit 0", "apt knows no package linux-image-cloud-amd64"),
        (f"echo ' Depends: {NAME}'", "echo 'no network' >&2; exit 100", "no network"),
    ],
)
def test_a_kernel_that_cannot_be_had_has_a_reason(
    programs: Path, tmp_path: Path, cache: str, get: str, reason: str
) -> None:
    fake(programs, "apt-cache", cache)
    fake(programs, "apt-get", get)
    with pytest.raises(Unavailable, match=reason):
        kernel_image(tmp_path / "kept")


def test_the_command_says_what_is_missing(tmp_path: Path) -> None:
    """In a PATH without anything of Debian's."""
    tools = Path(__file__).parents[3] / "tools"
    done = subprocess.run(
        [sys.executable, "-m", "kernel", "--folder", str(tmp_path), "--", "true"],
        env={"PATH": str(tmp_path), "PYTHONPATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5
    assert done.stderr.startswith("error: ")
