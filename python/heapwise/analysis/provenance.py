"""How each row of a program experiment was made and started: command, version, build, remarks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from heapwise.evidence import Evidence
from heapwise.evidence.series import Side
from heapwise.model.build import filled

FOLDERS = re.compile(r"(?:…|/[^/=:,]+)(?:/[^/=:,]+)*/")
"""The folders of an absolute path, and of one that was redacted."""

PRELOADED = "LD_PRELOAD"


@dataclass(frozen=True)
class Provenance:
    """``published``: the command of the report, "" if there is none. ``version``: of the runtime or
    of the tool, and of the allocator. ``trouble``: why it is not here."""

    title: str
    subject: str
    command: str
    version: str
    build: str
    note: str
    published: str = ""
    trouble: str = ""


def provenance(evidence: Evidence, side: Side, title: str = "", published: str = "") -> Provenance:
    """The provenance of one row. Folders are left out of its command."""
    cell, subject = side
    spec = evidence.experiments[cell.experiment].spec(subject)
    if spec is None:
        return Provenance(title, subject, "", "", "", "", published, "not in this run")
    words = [f"{name}={value}" for name, value in spec.environment.items()]
    peer = next((s.peer for s in evidence.stored.run.plan.subjects if s.name == subject), None)
    if peer and peer.path:
        words.append(f"{PRELOADED}={FOLDERS.sub('', peer.path)}")
    words += [FOLDERS.sub("", filled(word, cell.parameters)) for word in spec.command]
    allocator = f"{peer.name} {peer.version}".strip() if peer else ""
    return Provenance(
        title or spec.title,
        subject,
        " ".join(words),
        ", ".join(word for word in (allocator, spec.version) if word),
        spec.build,
        spec.note,
        published,
        "" if spec.available else spec.reason,
    )
