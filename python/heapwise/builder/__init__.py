"""Builds the peers that no package of the system brings, and the programs of the trees."""

from heapwise.builder.add import Added, add_peer, buildable, choose_buildable
from heapwise.builder.trees import TreesAdded, add_trees, choose_trees, packages_to_install
from heapwise.builder.workshop import BuildProgress

__all__ = [
    "Added",
    "BuildProgress",
    "TreesAdded",
    "add_peer",
    "add_trees",
    "buildable",
    "choose_buildable",
    "choose_trees",
    "packages_to_install",
]
