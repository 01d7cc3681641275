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


def pool_code(each: PoolCandidate) -> list[str]:
    """Lines of C++. The last one is a comment that shows the calls."""
    if each.policy == "arena":
        return ARENA.splitlines()
    if each.policy == "sized":
        classes = (each.block_size + 15) // 16
        return SIZED.format(classes=classes, largest=classes * 16).splitlines()
    return POOL.format(policy=each.policy, size=each.block_size).splitlines()
