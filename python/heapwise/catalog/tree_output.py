"""What a program of binary trees prints: every number of it follows from the depth."""

from __future__ import annotations

LEAST_DEPTH = 4


def tree_output(depth: int) -> bytes:
    """All lines for trees of ``depth``; a smaller depth than 6 is taken for 6.

    The check of a tree is the number of its nodes, found by walking it.
    """
    deepest = max(depth, LEAST_DEPTH + 2)
    lines = [f"stretch tree of depth {deepest + 1}\t check: {nodes_of(deepest + 1)}"]
    for each in range(LEAST_DEPTH, deepest + 1, 2):
        trees = 1 << (deepest - each + LEAST_DEPTH)
        lines.append(f"{trees}\t trees of depth {each}\t check: {trees * nodes_of(each)}")
    lines.append(f"long lived tree of depth {deepest}\t check: {nodes_of(deepest)}")
    return "".join(f"{line}\n" for line in lines).encode()


def nodes_of(depth: int) -> int:
    return int((2 << depth) - 1)
