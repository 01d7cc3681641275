#!/usr/bin/env python3
"""Prints a public header as Doxygen understands it; the header itself stays plain.

The parts of a contract (`Returns:`) become paragraphs of their own, the comments of the C headers
become Doxygen's, and the inline namespace of the version is left out of names.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# What only the compiler reads; Sphinx's parser of C++ takes them for names.
ATTRIBUTES = re.compile(r"\bHEAPWISE_(COLD|NOINLINE|NO_SANITIZE_THREAD|EXPORT|OWN_EXPORT)\b[ \n]*")
GNU = re.compile(
    r"\b(?:extern )?__inline__\s|\b__extension__\s|\b__thread\s"
    r"|\s*\b__attribute__\(\((?:[^()]|\([^()]*\))*\)\)"
)
VERSION = re.compile(r"::inline v\d+_\d+")
PARTS = "Effects|Requires|Returns|Throws|Errors|Thread safety|Complexity"


def for_doxygen(text: str, is_c: bool) -> str:
    """``text``, the contents of a header; is_c: its comments are `/* */`."""
    text = GNU.sub("", VERSION.sub("", text))
    text = re.sub(
        r"^(?!\s*#)(?!.*__).*$", lambda line: ATTRIBUTES.sub("", line[0]), text, flags=re.MULTILINE
    )
    if is_c:
        text = re.sub(r"^([ \t]*)/\* ", r"\1/** ", text, flags=re.MULTILINE)
        return re.sub(r"(?<=\S)([ \t]+)/\* ", r"\1/**< ", text)
    return re.sub(r"^([ \t]*)///.*$", _paragraphs, text, flags=re.MULTILINE)


def _paragraphs(line: re.Match[str]) -> str:
    start = f"\n{line[1]}///"
    return re.sub(rf" ?\b({PARTS}): ", rf"{start}{start} **\1:** ", line[0])


if __name__ == "__main__":
    path = Path(sys.argv[1])
    sys.stdout.write(for_doxygen(path.read_text(encoding="utf-8"), path.suffix == ".h"))
