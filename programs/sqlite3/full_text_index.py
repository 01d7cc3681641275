"""Writes SQL that builds and queries a text index of this machine's texts.

The texts are C and C++ headers from /usr/include and documents from /usr/share/doc: a sample that
the hashes of their paths choose, so the same machine always gives the same bytes.

Usage: full_text_index.py OUTPUT [MEGABYTES]
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path

HEADERS = Path("/usr/include")
DOCUMENTS = Path("/usr/share/doc")
MEGABYTES = 12.0
LONGEST_TEXT_BYTES = 200_000
TEXTS_A_TRANSACTION = 50
HEADER_SHARE = 0.6

OPENING = """\
PRAGMA journal_mode = memory;
PRAGMA temp_store = memory;
CREATE VIRTUAL TABLE text USING fts5(path UNINDEXED, body, tokenize = 'porter unicode61');
CREATE TABLE place(path TEXT, paragraph INTEGER, length INTEGER, PRIMARY KEY(path, paragraph))
  WITHOUT ROWID;
CREATE TABLE word(term TEXT PRIMARY KEY, documents INTEGER, occurrences INTEGER);
"""

QUERIES = """\
INSERT INTO text(text) VALUES ('optimize');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(text, 'row');
INSERT INTO word SELECT term, doc, cnt FROM vocabulary;
SELECT count(*), sum(length(body)) FROM text;
SELECT count(*), sum(occurrences) FROM word;
SELECT term, documents FROM word ORDER BY documents DESC, term LIMIT 40;
SELECT rowid, path, round(bm25(text), 3) FROM text WHERE text MATCH 'memory AND (pool OR arena)'
  ORDER BY bm25(text), rowid LIMIT 40;
SELECT path, snippet(text, 1, '[', ']', '...', 12) FROM text WHERE text MATCH 'alloc*'
  ORDER BY rowid LIMIT 200;
SELECT count(*), sum(length(marked)) FROM (SELECT highlight(text, 1, '<', '>') AS marked FROM text
  WHERE text MATCH 'template OR class' ORDER BY rowid LIMIT 20000);
SELECT sum(length(list)) FROM (SELECT path, group_concat(paragraph || ':' || length, ',') AS list
  FROM place GROUP BY path);
SELECT substr(term, 1, 3) AS head, group_concat(term, ' ') FROM
  (SELECT term FROM word WHERE documents > 4 ORDER BY term) GROUP BY head ORDER BY head LIMIT 400;
SELECT count(*) FROM text WHERE text MATCH 'NEAR(free pointer, 6)';
"""


def read_text(path: Path) -> str | None:
    """The text of a file, unpacked, at most LONGEST_TEXT_BYTES of it; None if it is not a text."""
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as stream:
                content = stream.read(LONGEST_TEXT_BYTES)
        else:
            with path.open("rb") as stream:
                content = stream.read(LONGEST_TEXT_BYTES)
    except (OSError, EOFError, zlib.error):
        return None
    return None if b"\0" in content else content.decode("utf-8", "replace")


def hash_of(path: Path) -> bytes:
    """What orders the sample; never Python's own hash, which differs from run to run."""
    return sha256(bytes(path)).digest()


def texts(root: Path, budget_bytes: int) -> Iterator[tuple[str, str]]:
    """Path and text of files below ``root``, spread over it, until ``budget_bytes`` are used up."""
    for path in sorted(root.rglob("*"), key=hash_of):
        if budget_bytes <= 0:
            return
        if path.is_symlink() or not path.is_file():
            continue
        text = read_text(path)
        if text:
            budget_bytes -= len(text)
            yield str(path), text


def quote(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def insertions(path: str, text: str) -> Iterator[str]:
    """One pair of statements for each paragraph of a text."""
    paragraphs = filter(None, (part.strip() for part in text.split("\n\n")))
    for number, paragraph in enumerate(paragraphs):
        yield f"INSERT INTO text(path, body) VALUES ({quote(path)}, {quote(paragraph)});\n"
        yield f"INSERT INTO place VALUES ({quote(path)}, {number}, {len(paragraph)});\n"


def statements(budget_bytes: int) -> Iterator[str]:
    """The whole input, piece by piece."""
    yield OPENING
    for root, share in ((HEADERS, HEADER_SHARE), (DOCUMENTS, 1 - HEADER_SHARE)):
        found = texts(root, int(budget_bytes * share))
        while batch := list(islice(found, TEXTS_A_TRANSACTION)):
            yield "BEGIN;\n"
            for path, text in batch:
                yield from insertions(path, text)
            yield "COMMIT;\n"
    yield QUERIES


def main() -> None:
    output = Path(sys.argv[1])
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else MEGABYTES
    output.parent.mkdir(parents=True, exist_ok=True)
    fresh = output.with_suffix(".part")
    with fresh.open("w", encoding="utf-8", errors="replace") as stream:
        stream.writelines(statements(int(megabytes * 1e6)))
    fresh.replace(output)
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB of SQL", file=sys.stderr)


if __name__ == "__main__":
    main()
