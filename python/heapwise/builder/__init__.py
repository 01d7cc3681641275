"""Builds the peers that no package of the system brings, and what programs need."""

from heapwise.builder.add import Added, add_peer, buildable, choose_buildable
from heapwise.builder.trees import TreesAdded, add_trees, choose_trees, packages_to_install
from heapwise.builder.wheels import WheelsAdded, add_wheels
from heapwise.builder.workshop import BuildProgress

__all__ = [
    "Added",
    "BuildProgress",
    "TreesAdded",
    "WheelsAdded",
    "add_peer",
    "add_trees",
    "add_wheels",
    "buildable",
    "choose_buildable",
    "choose_trees",
    "packages_to_install",
]
