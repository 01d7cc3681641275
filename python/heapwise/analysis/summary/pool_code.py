"""The code that a program needs for a pool or an arena, from the library's own headers."""

from __future__ import annotations

from heapwise.model import PoolCandidate

POOL = """\
#include <heapwise/heapwise.hpp>
heapwise::pool<heapwise::{policy}> blocks{{{{.block_size = {size}, .block_count = 256, \
.growth = heapwise::growth::geometric}}}};
// void* block = blocks.allocate();  ...  blocks.deallocate(block);"""

ARENA = """\
#include <heapwise/heapwise.hpp>
heapwise::arena blocks;
// void* block = blocks.allocate(bytes);  ...  blocks.reset(); // when all of them have ended"""

SIZED = """\
#include <optional>
#include <heapwise/heapwise.hpp>
heapwise::pool<heapwise::unsynchronized>& blocks_of(std::size_t bytes) {{
  static std::optional<heapwise::pool<heapwise::unsynchronized>> pools[{classes}];
  auto& blocks = pools[bytes == 0 ? 0 : (bytes - 1) / 16];
  if (!blocks) blocks.emplace(heapwise::pool_options{{.block_size = ((bytes + 15) / 16) * 16 + \
(bytes == 0) * 16, .block_count = 256, .growth = heapwise::growth::geometric}});
  return *blocks;
}} // for one thread, and at most {largest} bytes
// void* block = blocks_of(bytes).allocate();  ...  blocks_of(bytes).deallocate(block);"""


NODES = """\
#include <{header}>
#include <heapwise/heapwise.hpp>
heapwise::node_pool<heapwise::{policy}> nodes{{{{.block_count = 256, \
.growth = heapwise::growth::geometric}}}};
template <class T>
using node_allocator = heapwise::std_allocator<T, heapwise::node_pool<heapwise::{policy}>>;
{container} all{{nodes}};
// the pool must outlive the container; each container type has a pool of its own"""

POOLS_OF_NODES = {"unsynchronized", "thread_cached"}


def pool_code(each: PoolCandidate) -> list[str]:
    """Lines of C++. The last one is a comment that shows the calls."""
    if each.policy in POOLS_OF_NODES and (container := container_of(each.node)):
        return NODES.format(
            header=container[0], container=container[1], policy=each.policy
        ).splitlines()
    if each.policy == "arena":
        return ARENA.splitlines()
    if each.policy == "sized":
        classes = (each.block_size + 15) // 16
        return SIZED.format(classes=classes, largest=classes * 16).splitlines()
    return POOL.format(policy=each.policy, size=each.block_size).splitlines()


def container_of(node: str) -> tuple[str, str] | None:
    """The header and the type of the container that has such nodes, with their allocator. A tree
    or a table may also be one that allows equal keys."""
    name, _, rest = node.partition("<")
    arguments = _arguments(rest.removesuffix(">"))
    if not arguments:
        return None
    element = arguments[0]
    if name == "_List_node":
        return "list", f"std::list<{element}, node_allocator<{element}>>"
    if name == "_Fwd_list_node":
        return "forward_list", f"std::forward_list<{element}, node_allocator<{element}>>"
    pair = (
        _arguments(element.removeprefix("std::pair<").removesuffix(">"))
        if (element.startswith("std::pair<"))
        else []
    )
    is_map = len(pair) == 2 and pair[0].endswith(" const")
    key = pair[0].removesuffix(" const") if is_map else element
    types = f"{key}, {pair[1]}" if is_map else key
    kind = "map" if is_map else "set"
    if name == "_Rb_tree_node":
        return kind, f"std::{kind}<{types}, std::less<{key}>, node_allocator<{element}>>"
    if name == "_Hash_node":
        return f"unordered_{kind}", (
            f"std::unordered_{kind}<{types}, std::hash<{key}>, "
            f"std::equal_to<{key}>, node_allocator<{element}>>"
        )
    return None


def _arguments(text: str) -> list[str]:
    """The arguments of a template, without those of its arguments."""
    found, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and depth == 0:
            found.append(text[start:at].strip())
            start = at + 1
    return [*found, text[start:].strip()] if text else []
