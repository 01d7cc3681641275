"""Builds the peers that no package of the system brings: sources in, one library out."""

from heapwise.builder.add import Added, add_peer, buildable, choose_buildable
from heapwise.builder.workshop import Progress

__all__ = ["Added", "Progress", "add_peer", "buildable", "choose_buildable"]
