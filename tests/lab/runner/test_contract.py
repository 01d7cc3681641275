"""The contract suite finds a peer that breaks its promises, and one that is not there at all."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from heapwise.catalog import adhoc_peer, installed_peers, system_library
from heapwise.cli.frame.app import run as heapwise
from heapwise.model import Peer
from heapwise.runner.contract import check_peer

pytestmark = pytest.mark.usefixtures("built_native")

CALLOC_FORGETS = """
#include <stddef.h>
#include <string.h>
extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
void *malloc(size_t n) { return __libc_malloc(n); }
void free(void *p) { __libc_free(p); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void *aligned_alloc(size_t a, size_t n) { return __libc_memalign(a, n); }
void *calloc(size_t a, size_t b) {
    if (b != 0 && a > (size_t)-1 / b) return 0;
    unsigned char *p = __libc_malloc(a * b);
    if (p) { memset(p, 0, a * b); if (a * b == 512) p[511] = 1; }
    return p;
}
"""


@pytest.mark.parametrize("peer", installed_peers(), ids=lambda peer: peer.name)
def test_every_installed_peer_is_loaded_and_keeps_its_promises(peer: Peer) -> None:
    answer = check_peer(peer)
    assert answer.trouble == ""
    assert answer.build_id == peer.build_id
    assert len(answer.promises) == 8
    broken = {name for name, text in answer.promises.items() if text}
    assert broken <= set(peer.known_faults)


def compiled(folder: Path, source: str) -> Path:
    library = folder / "libpeer.so"
    (folder / "peer.c").write_text(source)
    options = ["-shared", "-fPIC", "-fno-builtin", "-O1", "-Wl,--build-id"]
    subprocess.run(["gcc", *options, str(folder / "peer.c"), "-o", str(library)], check=True)
    return library


def test_a_broken_promise_is_found(tmp_path: Path) -> None:
    library = compiled(tmp_path, CALLOC_FORGETS)
    answer = check_peer(adhoc_peer(f"forgets={library}"))
    assert answer.trouble == "calloc(1, 512) gave a dirty block"
    assert answer.library == str(library)


def test_a_process_that_crashes_names_the_signal_and_the_promise(tmp_path: Path) -> None:
    crashes = CALLOC_FORGETS.replace("p[511] = 1", "*(volatile char *)0 = 1")
    assert crashes != CALLOC_FORGETS
    answer = check_peer(adhoc_peer(f"crashes={compiled(tmp_path, crashes)}"))
    assert answer.trouble == (
        "the process ended with SIGSEGV while it tested that calloc gives zeros"
    )


def test_a_file_that_cannot_be_preloaded_is_found(tmp_path: Path) -> None:
    (tmp_path / "no.so").write_text("no library")
    peer = replace(adhoc_peer(f"no={system_library()}"), path=f"{tmp_path}/no.so")
    assert "cannot be preloaded" in check_peer(peer).trouble


def test_a_library_is_checked_by_its_path_and_by_the_name_that_it_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = compiled(tmp_path, CALLOC_FORGETS)
    ways = [(f"forgets={library}",), ("forgets", "--allocator", f"forgets={library}")]
    for words in ways:
        assert heapwise(["peers", "check", *words]) == 4
        assert capsys.readouterr().out.splitlines() == [
            "forgets    FAILED  calloc(1, 512) gave a dirty block"
        ]
