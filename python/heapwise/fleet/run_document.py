"""How far a run is, by the bytes of its ``run.json``."""

from __future__ import annotations

import msgspec


class _Document(msgspec.Struct):
    id: str
    state: str
    plan: dict[str, object]


def state_in(content: bytes) -> str:
    """``complete``, ``running`` or ``interrupted``; "" if the content is torn, empty or is not that
    of a run, so that it counts as not there."""
    try:
        return msgspec.json.decode(content, type=_Document).state
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
