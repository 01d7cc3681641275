"""The tree of a flame graph: functions, what lies below them, and sums of both."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from markupsafe import Markup


@dataclass
class Node:
    """A function. sums: key -> number, of all stacks through it. below: what it called, by name."""

    name: str
    sums: dict[str, int]
    below: dict[str, Node] = field(default_factory=dict)

    def add(self, path: Iterable[str], numbers: Mapping[str, int]) -> None:
        """The numbers of a stack, to this node and to each function of the path below it."""
        node = self
        node._sum(numbers)
        for name in path:
            node = node.below.setdefault(name, Node(name, dict.fromkeys(node.sums, 0)))
            node._sum(numbers)

    def _sum(self, numbers: Mapping[str, int]) -> None:
        for key, number in numbers.items():
            self.sums[key] += number


def embedded(tree: Node) -> Markup:
    """JSON in a script element: no name of a function can end the element."""
    text = _as_json(tree)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _as_json(tree: Node) -> str:
    """Each node has n, the name, its sums, and k, the nodes below it. There is no recursion: a
    stack may be deeper than Python's own, and the encoder of Python's library refuses nodes that
    lie a few hundred deep."""
    pieces: list[str] = []
    waiting: list[Node | str] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            pieces.append(node)
            continue
        own = {"n": node.name, **node.sums}
        pieces.append(json.dumps(own, separators=(",", ":"))[:-1] + ',"k":[')
        waiting.append("]}")
        for place, below in enumerate(reversed(node.below.values())):
            waiting += [",", below] if place else [below]
    return "".join(pieces)
