"""The input of sqlite3: the same bytes every time, all of it SQL that SQLite takes."""

from __future__ import annotations

import gzip
import os
import sqlite3
import sys
from pathlib import Path

import full_text_index
import pytest


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    headers, documents = tmp_path / "include", tmp_path / "doc"
    headers.mkdir()
    documents.mkdir()
    for number in range(20):
        (headers / f"h{number}.h").write_text(f"/* it's memory {number} */\n\nint pool{number};\n")
        with gzip.open(documents / f"d{number}.gz", "wt") as stream:
            stream.write("changes of the allocator\n" * 50)
    (headers / "not_text").write_bytes(b"\0\1\2")
    (headers / "link.h").symlink_to("h0.h")
    (documents / "broken.gz").write_bytes(b"\x1f\x8bnonsense")
    monkeypatch.setattr(full_text_index, "HEADERS", headers)
    monkeypatch.setattr(full_text_index, "DOCUMENTS", documents)
    return tmp_path


def test_the_same_machine_gives_the_same_bytes(machine: Path) -> None:
    first = list(full_text_index.statements(10_000))
    (machine / "include" / "not_text").touch()
    assert list(full_text_index.statements(10_000)) == first


def test_sqlite_takes_it(machine: Path) -> None:
    database = sqlite3.connect(":memory:")
    database.executescript("".join(full_text_index.statements(1_000_000)))
    # Two paragraphs of each of 20 headers, one of each of 20 documents.
    assert database.execute("SELECT count(*) FROM place").fetchone() == (60,)
    assert database.execute("SELECT count(*) FROM text WHERE text MATCH 'alloc*'").fetchone() == (
        20,
    )


def test_files_that_cannot_be_read_or_named_do_no_harm(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A packed text that is damaged after its start, and a name that is not UTF-8."""
    whole = gzip.compress(bytes(range(1, 256)) * 20)
    (machine / "doc" / "damaged.gz").write_bytes(whole[:20] + b"\xff" * 40 + whole[60:])
    (machine / "include" / os.fsdecode(b"caf\xe9.h")).write_text("int cup;\n")
    monkeypatch.setattr(sys, "argv", ["", str(machine / "input.sql")])
    full_text_index.main()
    assert "int cup;" in (machine / "input.sql").read_text(encoding="utf-8")


def test_the_budget_holds(machine: Path) -> None:
    small = sum(map(len, full_text_index.statements(2_000)))
    large = sum(map(len, full_text_index.statements(1_000_000)))
    assert small < large / 3
