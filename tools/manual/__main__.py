"""``python -m manual FOLDER``: writes ``heapwise.1`` and a page of each verb, compressed."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from manual import pages


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages():
        # No time stamp: the same sources give the same bytes.
        packed = gzip.compress(page.text.encode(), mtime=0)
        (folder / f"{page.name}.1.gz").write_bytes(packed)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
