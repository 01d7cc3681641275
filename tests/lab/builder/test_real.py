"""Builds every peer for real, out of its registry: minutes, and only when asked for.

python -m pytest -m slow tests/lab/builder/test_real.py
"""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_peer import Told

from heapwise.builder import add_peer, buildable
from heapwise.catalog import Declared, find_peers, read_elf
from heapwise.runner.contract import check_peer

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("built_native")]


@pytest.mark.parametrize("peer", buildable(), ids=lambda peer: peer.name)
def test_a_real_build_is_loaded_and_keeps_malloc_s_promises(
    peer: Declared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    added = add_peer(peer, Told())
    found = next(here for here in find_peers() if here.name == peer.name)
    assert (found.path, found.version) == (added.path, added.record.version)
    facts = read_elf(added.path, symbols=True)
    assert facts is not None
    assert "malloc" in facts.defined
    answer = check_peer(found)
    assert answer.trouble == ""
    assert answer.library == str(Path(added.path).resolve())
    assert answer.build_id == found.build_id
