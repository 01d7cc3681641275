"""What a peer's makers want set is set for its processes, and for nobody else's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from toy_peer import MALLOC

from heapwise.store import read_run, run_ids

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def peers(tmp_path: Path) -> dict[str, str]:
    """glibc, and a toy that wants FAKE_TOLD set."""
    folder = tmp_path / "peers"
    shutil.copytree(ROOT / "peers" / "glibc", folder / "glibc")
    (folder / "toy").mkdir()
    (tmp_path / "toy.c").write_text(MALLOC)
    subprocess.run(
        [
            "cc",
            "-O1",
            "-shared",
            "-fPIC",
            "-fno-builtin",
            str(tmp_path / "toy.c"),
            "-o",
            str(tmp_path / "libtoy.so"),
            "-Wl,--build-id",
        ],
        check=True,
    )
    (folder / "toy" / "peer.toml").write_text(
        f'title = "T"\nkind = "preload"\nlibraries = ["libtoy.so"]\nfolders = ["{tmp_path}"]\n'
        'get = "make it"\nlicence = "MIT"\nenvironment = { FAKE_TOLD = "yes" }\n'
    )
    return {"HEAPWISE_PEERS": str(folder)}


def test_compare(heapwise: Any, peers: dict[str, str]) -> None:
    program = (
        'case "$LD_PRELOAD" in *libtoy*) test "$FAKE_TOLD" = yes;; *) test -z "$FAKE_TOLD"; esac'
    )
    done = heapwise("compare", "--runs", "1", "--force", "--", "/bin/sh", "-c", program, env=peers)
    assert done.returncode == 0, done.stderr
    assert "toy" in done.stdout


def test_run(heapwise: Any, peers: dict[str, str], fake_native: Path, tmp_path: Path) -> None:
    heapwise("run", "fake/single", "--smoke", env=peers | {"HEAPWISE_NATIVE": str(fake_native)})
    store = tmp_path / "store"
    [id] = run_ids(store)
    told = {
        (p.subject, check.detail)
        for p in read_run(store, id).processes
        for check in p.facts.checks or ()
        if check.id == "told"
    }
    assert told >= {("good", ""), ("malloc@glibc", ""), ("malloc@toy", "yes")}
    assert ("malloc@glibc", "yes") not in told


def test_a_row_with_a_setting_gets_it_and_the_others_do_not(heapwise: Any, tmp_path: Path) -> None:
    """In one process and not in the other."""
    words = ["--allocator", "tuned:MIMALLOC_X=a:b MIMALLOC_Y='1 2'=jemalloc", "--ignore-output"]
    program = ["sh", "-c", 'echo "$MIMALLOC_X|$MIMALLOC_Y" >> log']
    done = heapwise(
        "compare", "-r", "1", "-w", "0", "--allocators", "jemalloc", *words, "--", *program
    )
    assert done.returncode in (0, 4), done.stderr
    assert set((tmp_path / "log").read_text().splitlines()) == {"|", "a:b|1 2"}
    store = tmp_path / "store"
    titles = {s.name: s.title for s in read_run(store, run_ids(store)[-1]).run.plan.subjects}
    assert titles["tuned"].endswith("MIMALLOC_X=a:b MIMALLOC_Y=1 2")
    assert "MIMALLOC" not in titles["jemalloc"]


@pytest.mark.parametrize("text", ["tuned:=jemalloc", "tuned:A=jemalloc", "tuned:A='=jemalloc"])
def test_a_malformed_setting_is_reported(heapwise: Any, text: str) -> None:
    done = heapwise("compare", "--dry-run", "--allocator", text, "--", "true")
    assert done.returncode == 2
    assert "name:VARIABLE=value=library" in done.stderr
