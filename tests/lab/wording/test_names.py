from __future__ import annotations

import pytest

from heapwise.wording.names import split_quantile


@pytest.mark.parametrize(("name", "expected"), [
    ("alloc_p50", ("alloc", "p50")), ("alloc_p99_9", ("alloc", "p99.9")), ("max", ("", "max")),
    ("free_max", ("free", "max")), ("alloc_fresh", None), ("p99.9", ("", "p99.9")),
])
def test_quantile_names(name: str, expected: tuple[str, str] | None) -> None:
    assert split_quantile(name) == expected
