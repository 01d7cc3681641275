"""Reading small files of /proc and /sys, which may be missing on any machine."""

from __future__ import annotations

from pathlib import Path


def read_text(path: str | Path) -> str | None:
    """Stripped content, or None when the kernel does not offer the file or refuses it."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def read_number(path: str | Path) -> int | None:
    text = read_text(path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def fields(path: str | Path, separator: str = ":") -> dict[str, str]:
    """``key: value`` lines; the first of a key counts."""
    found: dict[str, str] = {}
    for line in (read_text(path) or "").splitlines():
        key, _, value = line.partition(separator)
        found.setdefault(key.strip(), value.strip().strip('"'))
    return found


def bracketed(text: str | None) -> str | None:
    """``always [madvise] never`` chooses madvise."""
    if text is None:
        return None
    start, end = text.find("["), text.find("]")
    return text[start + 1 : end] if 0 <= start < end else text
