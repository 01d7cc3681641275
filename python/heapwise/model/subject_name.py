"""The names of subjects: the one place that puts them together and takes them apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

POINT, PEER, CONTROL = "/", "@", "-control"

MALLOC = "malloc"
"""What experiments call the subject that takes each block from malloc."""


@dataclass(frozen=True)
class SubjectName:
    """``good``, ``good/lean``, ``malloc@jemalloc``, ``malloc@glibc-control``.

    declared: as the experiment has it. point: of a curve, such as a size of a heap. peer: the
    allocator under a subject of the kind malloc. control: the second label of a baseline (A/A).
    """

    declared: str
    point: str = ""
    peer: str = ""
    control: bool = False

    @classmethod
    def parse(cls, text: str, *, may_be_control: bool = True) -> SubjectName:
        """The parts that make up ``text`` again; where none do, all of it is declared."""
        plain = text.removesuffix(CONTROL) if may_be_control else text
        row, _, peer = plain.partition(PEER)
        declared, _, point = row.partition(POINT)
        found = cls(declared, point, peer, plain != text)
        return found if str(found) == text else cls(text)

    def __str__(self) -> str:
        point = f"{POINT}{self.point}" if self.point else ""
        peer = f"{PEER}{self.peer}" if self.peer else ""
        return f"{self.declared}{point}{peer}{CONTROL if self.control else ''}"

    @property
    def measured(self) -> str:
        """Without the mark of a control, which measures what its baseline does."""
        return str(replace(self, control=False))

    @property
    def inner(self) -> str:
        """What the binary of the experiment calls it: peers and controls are our names for it."""
        return str(replace(self, peer="", control=False))

    @property
    def curve(self) -> str:
        """What all points of one curve share."""
        return str(replace(self, point=""))

    @property
    def is_malloc(self) -> bool:
        """``malloc@...``: each block comes from the malloc of a peer."""
        return (self.declared, self.point) == (MALLOC, "") and bool(self.peer)

    @property
    def short(self) -> str:
        """``jemalloc`` for ``malloc@jemalloc``, where a column has room for no more."""
        return str(replace(self, declared=self.peer, peer="")) if self.is_malloc else str(self)


def control_name(subject: str) -> str:
    """The second label of a baseline."""
    return str(replace(SubjectName.parse(subject, may_be_control=False), control=True))


def name_with_peer(subject: str, peer: str) -> str:
    """``malloc@jemalloc``, of ``malloc`` and ``jemalloc``."""
    return str(replace(SubjectName.parse(subject, may_be_control=False), peer=peer))


def short_name(subject: str) -> str:
    """``jemalloc`` for ``malloc@jemalloc``."""
    return SubjectName.parse(subject).short
