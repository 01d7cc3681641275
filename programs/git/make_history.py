"""Writes a history for ``git fast-import``: texts that change a little from commit to commit.

Usage: make_history.py OUTPUT COMMITS
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

SEED = 21
FILES = 60
LINES = 120
FILES_A_COMMIT = 6
LINES_A_CHANGE = 5
START_S = 1_600_000_000
"""Seconds since 1970 at the first commit."""


def line(chance: random.Random) -> str:
    return " ".join(f"{chance.getrandbits(24):x}" for _ in range(8))


def history(commits: int) -> str:
    chance = random.Random(SEED)
    texts = {
        f"folder{n % 7}/file{n}.txt": [line(chance) for _ in range(LINES)] for n in range(FILES)
    }
    out = []
    for number in range(commits):
        changed = list(texts) if number == 0 else chance.sample(list(texts), FILES_A_COMMIT)
        author = f"A. Author <author@example.org> {START_S + number * 3600} +0000"
        words = f"Change {number}"
        out.append(f"commit refs/heads/main\ncommitter {author}\ndata {len(words)}\n{words}\n")
        for name in changed:
            for place in chance.sample(range(LINES), LINES_A_CHANGE):
                texts[name][place] = line(chance)
            text = "\n".join(texts[name]) + "\n"
            out.append(f"M 100644 inline {name}\ndata {len(text)}\n{text}\n")
    return "".join(out)


def main() -> int:
    output, commits = sys.argv[1:]
    Path(output).write_text(history(int(commits)), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
