"""Checks that each declaration of the public headers states its contract.

Usage: check_contracts.py [ROOT]      exit 0: all do; 1: those that do not are printed.

Needs clang++-19, which `make setup` installs: its parser reads the headers.
"""

from __future__ import annotations

import sys
from pathlib import Path

from contracts.rules import offences


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    found = list(offences(root.resolve()))
    print(*found, f"contracts: {len(found)} missing", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
