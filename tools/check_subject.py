"""Checks the subject of a commit: an area, a colon, a verb. A hook of pre-commit runs it.

Usage: check_subject.py MESSAGE-FILE      exit 0: fine; 1: it says why not.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

LONGEST = 100
MADE_BY_GIT = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")
NOT_VERBS = {
    "a",
    "an",
    "the",
    "no",
    "each",
    "every",
    "what",
    "who",
    "how",
    "when",
    "if",
    "all",
    "one",
    "two",
    "it",
    "its",
    "their",
    "this",
    "that",
}


def trouble(subject: str) -> str:
    """What is wrong with a subject; or nothing."""
    if subject.startswith(MADE_BY_GIT):
        return ""
    parts = re.fullmatch(r"([\w /,.+-]+): (\S+).*", subject)
    if parts is None:
        return "has no area. Write, for example: heap: bound the number of adoptions per refill"
    if parts[2].lower() in NOT_VERBS:
        return f"says '{parts[2]}' where its verb should be: say what the commit does"
    if len(subject) > LONGEST:
        return f"has {len(subject)} letters; use at most {LONGEST}"
    return ""


def main() -> int:
    subject = Path(sys.argv[1]).read_text(encoding="utf-8").partition("\n")[0]
    found = trouble(subject)
    if found:
        print(f"The subject of the commit {found}.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
