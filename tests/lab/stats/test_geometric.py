from __future__ import annotations

import pytest
from scipy.stats import gmean

from heapwise.stats.basics.geometric import MissingCells, geometric_mean


def test_against_scipy() -> None:
    ratios = {"a": 0.5, "b": 2.0, "c": 8.0}
    assert geometric_mean(ratios) == pytest.approx(float(gmean([0.5, 2.0, 8.0])))
    assert geometric_mean(ratios) == pytest.approx(2.0)


def test_a_missing_cell_is_named_not_skipped() -> None:
    with pytest.raises(MissingCells, match="crashed one") as refused:
        geometric_mean({"fine": 0.5, "crashed one": None})
    assert refused.value.cells == ["crashed one"]


@pytest.mark.parametrize("ratios", [{}, {"a": 0.0}, {"a": float("nan")}])
def test_nonsense_is_refused(ratios: dict[str, float | None]) -> None:
    with pytest.raises(ValueError, match="above zero"):
        geometric_mean(ratios)
