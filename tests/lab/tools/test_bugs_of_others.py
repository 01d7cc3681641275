"""docs/bugs-of-others.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "docs" / "bugs-of-others.md"
ROWS = [line.split(" | ") for line in TABLE.read_text().splitlines() if re.match(r"\| \d", line)]
NAMED = [name for row in ROWS for name in re.findall(r"`(tests/[^`]+)`", row[-1])]


def test_every_bug_has_a_row_and_a_test() -> None:
    assert [int(row[0].strip("| ")) for row in ROWS] == list(range(1, 27))
    open_ends = [row[0] for row in ROWS if "`tests/" not in row[-1] and "none yet" not in row[-1]]
    assert open_ends == []


@pytest.mark.parametrize("name", sorted(set(NAMED)))
def test_the_test_exists(name: str) -> None:
    path, _, test = name.partition("::")
    file = ROOT / path
    assert file.is_file()
    if test:
        source = re.sub(r'TEST_CASE\(\s+|"\s+"', lambda cut: cut[0].strip('" \n'), file.read_text())
        written = f"def {test}(" if file.suffix == ".py" else f'TEST_CASE("{test}"'
        assert written in source, f"{path} has no test called {test}"
