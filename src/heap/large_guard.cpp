#include "heap/large_guard.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/large_blocks.hpp"
#include "heap/space.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/faults.hpp"

namespace heapwise::detail {

namespace {

/// Each that is hidden by protection splits a mapping in three. A process may have 65,530, and the
/// program needs some too.
constexpr std::size_t most_protected = 8192;

constinit std::atomic<std::size_t> protected_pages{0};

std::byte* page_behind(const span& block) noexcept {
  return the_space.begin_of(block) + round_up(block.bytes, os::page_bytes());
}

} // namespace

void hide_page_behind(span& block) noexcept {
  if (block.behind != os::hidden_by::nothing) return;
  const std::size_t end = round_up(block.bytes, os::page_bytes()) + os::page_bytes();
  if (end > block.slices * slice_bytes) return;
  // Relaxed: a few more or less do no harm.
  if (protected_pages.load(std::memory_order_relaxed) >= most_protected) return;
  block.behind = os::hide(page_behind(block), os::page_bytes());
  if (block.behind == os::hidden_by::protection) {
    protected_pages.fetch_add(1, std::memory_order_relaxed);
  }
}

bool show_page_behind(span& block) noexcept {
  if (!os::reveal(page_behind(block), os::page_bytes(), block.behind)) return false;
  if (block.behind == os::hidden_by::protection) {
    protected_pages.fetch_sub(1, std::memory_order_relaxed);
  }
  block.behind = os::hidden_by::nothing;
  return true;
}

void give_to_space(span& freed, bool clean) noexcept {
  if (!lower_guard(freed)) return the_space.retire(freed);
  freed.bytes = 0;
  the_space.give(freed, 0, clean);
}

bool is_behind_large(const void* address) noexcept {
  if constexpr (!chosen_profile::guards_large) return false;
  const span* const block = the_space.holds(address) ? large_block_around(address) : nullptr;
  if (block == nullptr || block->behind == os::hidden_by::nothing) return false;
  const auto offset = reinterpret_cast<std::uintptr_t>(address) -
                      reinterpret_cast<std::uintptr_t>(page_behind(*block));
  return offset < os::page_bytes();
}

} // namespace heapwise::detail
