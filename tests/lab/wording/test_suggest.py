from __future__ import annotations

import pytest

from heapwise.wording.suggest import did_you_mean

KNOWN = ["jemalloc", "V13", "heap/rl_small", "pool/latency"]


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("jemaloc", "jemalloc"),
        ("JEMALLOC", "jemalloc"),
        ("v13", "V13"),
        ("latency", "pool/latency"),
        ("cache/rl_smal", "heap/rl_small"),
    ],
)
def test_the_nearest_is_offered(word: str, near: str) -> None:
    assert did_you_mean(word, KNOWN, "there are others") == f"; did you mean {near}?"


def test_without_a_similar_name_all_names_are_listed() -> None:
    assert did_you_mean("zzz", KNOWN, "known are four") == "; known are four"
    assert did_you_mean("", KNOWN) == did_you_mean("zzz", []) == ""
