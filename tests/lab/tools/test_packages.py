"""The lists of Debian packages that tools/setup installs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

LISTS = sorted((Path(__file__).parents[3] / "tools/packages").glob("*.txt"))


@pytest.mark.parametrize("file", LISTS, ids=lambda file: file.name)
def test_a_list_names_each_package_once(file: Path) -> None:
    names = [line.strip() for line in file.read_text().splitlines() if not line.startswith("#")]
    assert [name for name, count in Counter(filter(None, names)).items() if count > 1] == []
