#include "heap/large/large_guard.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "heap/checks/guard_pages.hpp"
#include "heap/large/large_blocks.hpp"
#include "heap/space/space.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/expects.hpp"
#include "os/reports/faults.hpp"

namespace heapwise::detail {

namespace {

constinit guard_pages large_guards{8192};

std::byte* begin_of_hidden(const span& block) noexcept {
  return the_space.begin_of(block) + round_up(block.large.usable_bytes, os::page_bytes());
}

} // namespace

std::size_t hidden_bytes_behind(const span& block) noexcept {
  const std::size_t begin = round_up(block.large.usable_bytes, os::page_bytes());
  const std::size_t end = round_up(begin + os::page_bytes(), slice_bytes) + slice_bytes;
  const std::size_t end_of_span = block.slices * slice_bytes;
  return std::min(end, end_of_span) - std::min(begin, end_of_span);
}

void hide_pages_behind(span& block) noexcept {
  const std::size_t bytes = hidden_bytes_behind(block);
  if (block.behind != os::hidden_by::nothing || bytes == 0) return;
  block.behind = large_guards.hide(begin_of_hidden(block), bytes);
}

bool show_pages_behind(span& block) noexcept {
  expects(block.large.usable_bytes <= block.slices * slice_bytes,
          "the span has the slices of its bytes");
  const std::size_t bytes = hidden_bytes_behind(block);
  if (!large_guards.reveal(begin_of_hidden(block), bytes, block.behind)) return false;
  block.behind = os::hidden_by::nothing;
  return true;
}

void give_to_space(span& freed, bool clean) noexcept {
  if (!lower_guard(freed)) return the_space.retire(freed);
  freed.large.usable_bytes = 0;
  the_space.give(freed, 0, clean);
}

bool is_behind_large(const void* address) noexcept {
  if constexpr (!chosen_profile.guards_large) return false;
  const span* const block = the_space.holds(address) ? large_block_around(address) : nullptr;
  if (block == nullptr || block->behind == os::hidden_by::nothing) return false;
  const auto offset = reinterpret_cast<std::uintptr_t>(address) -
                      reinterpret_cast<std::uintptr_t>(begin_of_hidden(*block));
  return offset < hidden_bytes_behind(*block);
}

} // namespace heapwise::detail
