"""Writes lines of words: the same bytes for the same number, on every machine.

Usage: words.py OUTPUT LINES
"""

from __future__ import annotations

import random
import string
import sys
from itertools import accumulate
from pathlib import Path

SEED = 20
VOCABULARY = 20_000
WORDS_A_LINE = 12


def lines(count: int) -> list[str]:
    """Few words are frequent and many are rare, as in texts that people write (Zipf's law)."""
    chance = random.Random(SEED)
    words = [
        "".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 14)))
        for _ in range(VOCABULARY)
    ]
    weights = list(accumulate(1 / (place + 1) for place in range(VOCABULARY)))
    drawn = chance.choices(words, cum_weights=weights, k=count * WORDS_A_LINE)
    return [
        " ".join(drawn[start : start + WORDS_A_LINE])
        for start in range(0, len(drawn), WORDS_A_LINE)
    ]


def main() -> int:
    output, count = sys.argv[1:]
    Path(output).write_text("".join(f"{line}\n" for line in lines(int(count))), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
