"""Checks what the documents promise: links to and from them, code, commands, places that nobody
should name, the pages of the design, and the language of the whole tree.

Usage: check_docs.py [ROOT]      exit 0: every promise holds; 1: the broken ones are printed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from docs import code, design, language, links, places, reach
from docs.tree import text_files

WITH_CODE = ("README.md", "CONTRIBUTING.md")


def offences(root: Path) -> Iterator[str]:
    """Every promise of a file below ``root`` that does not hold."""
    for file in text_files(root.resolve()):
        yield from links.offences(file)
        yield from places.offences(file)
        yield from design.offences(file)
        yield from language.offences(file)
        if file.name in WITH_CODE or file.name.startswith("docs/how-to/"):
            yield from code.offences(file)


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    found = 0
    for offence in chain(offences(root), reach.offences(text_files(root.resolve()))):
        print(offence, flush=True)
        found += 1
    print(f"documents: {found} broken promises")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
