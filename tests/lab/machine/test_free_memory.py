"""How much memory programs can have on this machine and under the limits of control groups."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from heapwise.machine import cgroups, free_memory
from heapwise.machine.free_memory import available_bytes

MIB = 1024 * 1024


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of which 1000 MiB are free, and no group yet."""
    monkeypatch.setattr(cgroups, "CGROUPS", tmp_path / "groups")
    monkeypatch.setattr(cgroups, "NAMES", tmp_path / "names")
    now = {"memory_available_bytes": 1000 * MIB}
    monkeypatch.setattr(free_memory, "memory_now", lambda: now)
    (tmp_path / "groups").mkdir()
    return tmp_path / "groups"


def belongs_to(groups: Path, *lines: str) -> None:
    (groups.parent / "names").write_text("".join(f"{line}\n" for line in lines))


def write(group: Path, **files: str) -> None:
    """Files of a group; _ in a name is a dot before the first of them."""
    group.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (group / name.replace("_", ".", 1)).write_text(f"{text}\n")


def test_without_groups_the_kernel_says_it(groups: Path) -> None:
    assert available_bytes() == 1000 * MIB
    belongs_to(groups, "0::/system.slice/a.service")
    assert available_bytes() == 1000 * MIB


@pytest.mark.parametrize(
    ("files", "expected_mib"),
    [
        ({"memory_max": "max", "memory_high": "max"}, 1000),
        ({"memory_max": f"{400 * MIB}"}, 400),
        ({"memory_max": f"{400 * MIB}", "memory_current": f"{100 * MIB}"}, 300),
        ({"memory_max": f"{400 * MIB}", "memory_high": f"{200 * MIB}"}, 200),
        ({"memory_max": "max", "memory_high": f"{200 * MIB}"}, 200),
        (
            {
                "memory_max": f"{400 * MIB}",
                "memory_current": f"{300 * MIB}",
                "memory_stat": f"anon {60 * MIB}\nactive_file {MIB}\ninactive_file {240 * MIB}",
            },
            340,
        ),
        ({"memory_max": f"{400 * MIB}", "memory_current": f"{500 * MIB}"}, 0),
        ({"memory_max": f"{4000 * MIB}"}, 1000),
    ],
)
def test_the_limits_of_a_group_are_kept(
    groups: Path, files: dict[str, str], expected_mib: int
) -> None:
    belongs_to(groups, "0::/a.slice/b.service")
    write(groups / "a.slice" / "b.service", **files)
    assert available_bytes() == expected_mib * MIB


def test_the_limits_of_the_groups_above_are_kept(groups: Path) -> None:
    belongs_to(groups, "0::/a.slice/b.service")
    write(groups / "a.slice" / "b.service", memory_max=f"{400 * MIB}")
    write(groups / "a.slice", memory_max=f"{900 * MIB}", memory_current=f"{700 * MIB}")
    assert available_bytes() == 200 * MIB
    write(groups / "other.slice", memory_max=f"{MIB}")
    assert available_bytes() == 200 * MIB


@pytest.mark.parametrize("name", ["/", "/docker/0a1b", "/../../init.scope"])
def test_a_container_sees_its_group_as_the_root(groups: Path, name: str) -> None:
    belongs_to(groups, f"0::{name}")
    write(groups, memory_max=f"{300 * MIB}")
    assert available_bytes() == 300 * MIB


def test_groups_of_version_1_have_other_files(groups: Path) -> None:
    belongs_to(groups, "4:cpu,cpuacct:/c", "3:memory:/a/b", "0::/user.slice")
    write(
        groups / "memory" / "a" / "b",
        memory_limit_in_bytes=f"{400 * MIB}",
        memory_usage_in_bytes=f"{300 * MIB}",
        memory_stat=f"inactive_file 5\ntotal_inactive_file {50 * MIB}",
    )
    write(groups / "memory", memory_limit_in_bytes="9223372036854771712")
    assert available_bytes() == 150 * MIB


def test_free_memory_is_known_where_proc_has_processes_alone() -> None:
    """As in a service of systemd with ProcSubset=pid."""
    apart = ["unshare", "--mount", "--pid", "--fork", "sh", "-c"]
    mount = "mount -t proc -o subset=pid proc /proc"
    if subprocess.run([*apart, mount], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs a mount namespace of its own: run as root")
    ask = "from heapwise.machine.free_memory import available_bytes as a; print(a())"
    done = subprocess.run(
        [*apart, f'{mount}; exec "$0" -c "$1"', sys.executable, ask],
        capture_output=True,
        text=True,
        check=True,
    )
    assert 0 < int(done.stdout) < 1 << 50
