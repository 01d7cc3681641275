"""Writes commands in the protocol of Redis: strings, hashes, lists and sorted sets, which grow,
change and in part go away.

Usage: make_commands.py OUTPUT COMMANDS
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

SEED = 22
KEYS_SHARE = 0.2
"""Different keys, as a share of the number of commands."""


def command(*words: object) -> bytes:
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def commands(count: int) -> Iterator[bytes]:
    chance = random.Random(SEED)
    keys = max(1, int(count * KEYS_SHARE))
    for number in range(count):
        key, kind = chance.randrange(keys), chance.random()
        if kind < 0.45:
            yield command("SET", f"string:{key}", "v" * chance.choice((8, 30, 60, 200, 1000)))
        elif kind < 0.6:
            yield command("HSET", f"hash:{key // 20}", f"field{number % 97}", "x" * (number % 90))
        elif kind < 0.75:
            yield command("RPUSH", f"list:{key // 50}", f"element:{number}")
        elif kind < 0.85:
            yield command("ZADD", f"set:{key // 50}", number % 10_000, f"member:{key}")
        elif kind < 0.95:
            yield command("DEL", f"string:{key}")
        else:
            yield command("APPEND", f"string:{key}", "a" * (number % 300))


def main() -> int:
    output, count = sys.argv[1:]
    with Path(output).open("wb") as file:
        file.writelines(commands(int(count)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
