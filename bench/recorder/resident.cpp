// Which pages of a block have memory.
#include <unistd.h>

#include <cstddef>

#include "probe/next_malloc.hpp"
#include "recorder/calls.hpp"
#include "recorder/own_filter.hpp"
#include "trace/kernel.hpp"

namespace heapwise::bench {

std::uint64_t resident_pages(const void* block, std::size_t least) noexcept {
  auto* next = known_usable_size.get();
  if (next == nullptr || has_own_filter()) return 0; // few filters allow mincore
  const std::size_t usable = next(const_cast<void*>(block));
  if (usable < least) return 0;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  std::uintptr_t at = reinterpret_cast<std::uintptr_t>(block) & ~(page - 1);
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(block) + usable;
  std::uint64_t resident = 0;
  constexpr std::size_t pages_a_look = 512; // on the stack of a thread, which may be small
  unsigned char present[pages_a_look];
  while (at < end) {
    const std::size_t bytes =
        end - at < pages_a_look * page ? end - at : static_cast<std::size_t>(pages_a_look * page);
    if (!kernel::look_at_pages(at, bytes, present)) break;
    for (std::size_t i = 0; i < (bytes + page - 1) / page; ++i) resident += present[i] & 1;
    at += bytes;
  }
  return resident;
}

} // namespace heapwise::bench
