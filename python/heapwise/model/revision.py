"""Which state of the user's sources a run measured."""

from __future__ import annotations

import msgspec


class Revision(msgspec.Struct, frozen=True):
    """commit: the full hash. committed: ISO 8601, with the offset of the committer. dirty: tracked
    files differed from the commit, so that the hash does not say what was built. repository: the
    address of its ``origin`` without a user's name, or the absolute path of its top folder; "" in
    runs of earlier versions. top: the absolute path of its top folder."""

    commit: str
    committed: str
    dirty: bool = False
    repository: str = ""
    top: str = ""
