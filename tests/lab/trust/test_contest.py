"""V21: allocators that are compared on unequal terms."""

from __future__ import annotations

from planted import compare, verdict_of, with_an_inlined_heap, with_peer

from heapwise.analysis.verdicts.standing import standings
from heapwise.evidence import Evidence


def test_a_heap_that_is_compiled_in_is_never_ranked_with_libraries() -> None:
    evidence = Evidence(with_an_inlined_heap())
    inlined = {name for name in evidence.subjects if "@" not in name}
    assert "ranked apart" in verdict_of(evidence.stored, "V21").detail
    found = standings(evidence)
    assert found
    for standing in found:
        assert standing.best not in inlined
        assert not inlined & set(standing.level())
        assert all(standing.places[name].aside for name in inlined & standing.places.keys())


def test_a_setting_that_an_allocator_needs_to_work_is_not_tuning() -> None:
    stored = with_peer(compare(), "jemalloc", environment={"GLIBC_TUNABLES": "x=0"})
    assert verdict_of(stored, "V21").verdict == "pass"
    assert "GLIBC_TUNABLES=x=0 for jemalloc" in verdict_of(stored, "V21").detail
    assert "jemalloc gets GLIBC_TUNABLES=x=0" in verdict_of(stored, "V20").detail
