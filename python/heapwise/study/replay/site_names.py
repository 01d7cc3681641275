"""The call sites of a trace under the names that its reader knows, for advice on each of them."""

from __future__ import annotations

import re
from collections import defaultdict

from heapwise.trace import Trace
from heapwise.trace.contents import Contents
from heapwise.trace.names.call_stacks import CallStack, call_stacks
from heapwise.trace.names.symbols import Place, Symbols
from heapwise.trace.names.wrappers import Wrappers

NODE = re.compile(r"\b(_List_node|_Fwd_list_node|_Rb_tree_node|_Hash_node)<")
"""The nodes of containers, as libstdc++ calls them. What follows is the type of the elements."""


class SiteNames:
    """Wrappers are skipped, as ``heapwise trace`` skips them."""

    def __init__(self, trace: Trace, found: Contents, symbols: Symbols) -> None:
        self._wrappers = Wrappers()
        self._stacks: dict[int, list[CallStack]] = defaultdict(list)
        for stack in call_stacks(trace, found, symbols):
            self._stacks[stack.site].append(stack)

    def name(self, site: int) -> str:
        """The name of the caller that gets most of its bytes."""
        callers = list(
            dict.fromkeys(
                str(place) for stack in self._stacks[site] if (place := self._caller(stack))
            )
        )
        if not callers:
            return f"site {site}"
        others = len(callers) - 1
        return callers[0] + (
            f" and {others} other caller{'s' if others > 1 else ''}" if others else ""
        )

    def node(self, site: int) -> str:
        """The node that its blocks are, with the type of the elements, such as
        ``_List_node<order>``; empty if they are not nodes of a container that is known."""
        for stack in self._stacks[site]:
            for place in stack.places[::-1]:
                if found := NODE.search(place.function):
                    return _closed(place.function[found.start() :])
                if place.function not in self._wrappers:
                    break
        return ""

    def _caller(self, stack: CallStack) -> Place | None:
        inner = stack.places[::-1]
        return inner[self._wrappers.beyond(inner)] if inner else None


def _closed(text: str) -> str:
    """Up to the bracket that closes the first one."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "<") - (sign == ">")
        if sign == ">" and depth == 0:
            return text[: at + 1]
    return ""
