"""Cells are values: the same settings are the same cell, however they were written down."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import changed, pool_run

from heapwise.analysis import analyse, to_json
from heapwise.evidence import Evidence
from heapwise.model import Cell, Process, Setting, Settings, same_setting, setting_order
from heapwise.runner.campaign.steps import key_of
from heapwise.store import StoredRun

VALUES = st.one_of(
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([-1.0, 0.0, 1.0, 0.5]),
    st.sampled_from(["1", "True", ""]),
    st.none(),
)
SETTINGS = st.dictionaries(st.sampled_from("abc"), VALUES)


def test_one_and_one_point_zero_are_one_setting() -> None:
    whole, broken = Settings({"load": 1}), Settings({"load": 1.0})
    assert whole == broken
    assert hash(whole) == hash(broken)
    assert str(broken) == "load=1"
    assert Settings({"load": 1.5}) != whole
    assert str(Settings({"load": 1e300})) == "load=1e+300"


@pytest.mark.parametrize("other", [1, 1.0, "True", "1", None])
def test_true_is_neither_a_number_nor_a_word(other: Setting) -> None:
    assert Settings({"huge": True}) != Settings({"huge": other})
    assert not same_setting(True, other)
    assert len({Settings.of({"huge": True}), Settings.of({"huge": other})}) == 2


@given(SETTINGS, SETTINGS)
def test_equal_settings_have_the_same_names_with_the_same_values(
    one: dict[str, Setting], other: dict[str, Setting]
) -> None:
    same = one.keys() == other.keys() and all(
        same_setting(value, other[name]) for name, value in one.items()
    )
    assert (Settings(one) == Settings(other)) == same
    assert not same or hash(Settings(one)) == hash(Settings(other))
    assert Settings.of(one) == Settings(one) == Settings(dict(reversed(one.items())))


def test_nothing_changes_settings() -> None:
    written: dict[str, Setting] = {"threads": 2, "block_size": 64}
    settings = Settings(written)
    written["threads"] = 4
    assert dict(settings) == {"block_size": 64, "threads": 2}
    assert str(settings | {"threads": 8}) == "block_size=64 threads=8"
    assert settings["threads"] == 2
    assert Settings.of(written) is Settings.of(dict(written))


def test_cells_are_values() -> None:
    cell = Cell("pool/bulk", Settings({"threads": 2}), "free")
    assert {cell: 1}[Cell("pool/bulk", Settings({"threads": 2.0}), "free")] == 1
    assert cell != replace(cell, quantity="alloc")
    assert cell.setup == replace(cell, quantity="alloc").setup


def test_numbers_go_by_size_and_before_words() -> None:
    assert sorted(["b", 10, None, 9.5, "a"], key=setting_order) == [9.5, 10, None, "a", "b"]
    settings = Settings({"threads": "two", "depth": 3})
    assert (
        settings.number("threads", 1),
        settings.number("depth", 1),
        settings.number("size", 1),
    ) == (1, 3, 1)


def rewritten(stored: StoredRun, value: Setting, first_round: int) -> StoredRun:
    """With ``threads`` written as ``value`` from that round on, where it was 2."""

    def written(parameters: dict[str, Setting], round: int) -> dict[str, Setting]:
        if round < first_round or parameters.get("threads") != 2:
            return parameters
        return {**parameters, "threads": value}

    return replace(
        stored,
        processes=[replace(p, parameters=written(p.parameters, p.round)) for p in stored.processes],
        samples=[replace(s, parameters=written(s.parameters, s.round)) for s in stored.samples],
    )


def test_a_run_that_spells_a_setting_in_two_ways_has_one_cell() -> None:
    stored = pool_run(6, threads=[1, 2])
    assert to_json(analyse(Evidence(rewritten(stored, 2.0, 3)))) == to_json(
        analyse(Evidence(stored))
    )


def test_a_step_that_was_done_is_done_in_either_spelling() -> None:
    process = Process(1, "a/b", "c", {"size": 8, "hot": True}, 0, "ok")
    assert key_of(process) == key_of(replace(process, parameters={"hot": True, "size": 8.0}))
    assert key_of(process) != key_of(replace(process, parameters={"hot": 1, "size": 8}))


def test_a_number_of_threads_that_is_a_word_is_a_cell_as_any_other() -> None:
    stored = rewritten(pool_run(6, threads=[1, 2]), "two", 0)
    stored = replace(
        stored, processes=[changed(p, involuntary_switches=3) for p in stored.processes]
    )
    rows = analyse(Evidence(stored)).rows
    assert {row.parameters.get("threads") for row in rows} >= {1, "two"}
