"""A gate in a container: root of a namespace of users, whose root folder has next to nothing.

There is no /etc, /var, home or shared memory; only /usr, /proc, Heapwise and the program.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gate_trees import BUILD, KINDS, program_of, write_tree

ROOT = Path(__file__).resolve().parents[2]
ENTER = """
set -e
root=$1; shift
mount -t tmpfs none "$root"
while [ "$1" != -- ]; do mkdir -p "$root$1"; mount --rbind "$1" "$root$1"; shift; done
shift
for link in /bin /sbin /lib /lib32 /lib64; do [ ! -L $link ] || cp -d $link "$root$link"; done
mkdir -p "$root/dev"
for name in null urandom; do
  touch "$root/dev/$name"; mount --bind /dev/$name "$root/dev/$name"
done
exec chroot "$root" "$@"
"""


def sentences(folder: Path, environment: dict[str, str], kind: str, blocks: int) -> dict[str, Any]:
    """Verdict -> sentence, of a gate of trees with 1,000 and with so many blocks."""
    trees, root = folder / "trees", folder / "root"
    root.mkdir(parents=True)
    for name, number in (("old", 1000), ("a-longer-name", blocks)):
        write_tree(trees / name, kind, number)
        subprocess.run(["sh", "-c", BUILD[kind]], cwd=trees / name, check=True)
    native = environment["HEAPWISE_NATIVE"]
    shown = [str(Path(at).resolve()) for at in ("/usr", "/proc", ROOT, sys.prefix, native, trees)]
    base, new = (str(trees / name / program_of(kind)) for name in ("old", "a-longer-name"))
    words = ["gate", "--base", base, "--new", new, "--limit", "allocations=0", "--json"]
    done = subprocess.run(
        [
            *("unshare", "-r", "-m", "sh", "-c", ENTER, "sh", str(root), *shown, "--"),
            *(str(Path(sys.prefix).resolve() / "bin" / "python"), "-m", "heapwise", *words),
        ],
        env=environment
        | {
            "HOME": "/nonexistent",
            "HEAPWISE_NATIVE": str(Path(native).resolve()),
            "HEAPWISE_STORE": str(trees / "store"),
            "XDG_CACHE_HOME": str(trees.parent / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        cwd="/",
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.stdout, done.stderr
    return {row["verdict"]: row["sentence"] for row in json.loads(done.stdout)["gate"]["rows"]}


@pytest.mark.parametrize(
    "kind",
    [
        kind if kind == "plug-in" else pytest.param(kind, marks=pytest.mark.long)
        for kind in KINDS
        if kind != "reader"
    ],
)
def test_a_gate_in_a_bare_root_tells_a_change_from_none(
    built_native: Path, environment: dict[str, str], tmp_path: Path, kind: str
) -> None:
    if subprocess.run(["unshare", "-r", "-m", "true"], check=False).returncode:
        pytest.skip("the kernel allows no namespace of users")
    found = environment | {"HEAPWISE_NATIVE": str(built_native)}
    assert list(sentences(tmp_path / "1", found, kind, 1000)) == ["fine"]
    assert "3 more" in sentences(tmp_path / "2", found, kind, 1003)["regressed"]
