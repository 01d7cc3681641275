#include "heap/space/page_returns.hpp"

#include "heap/space/huge_pages.hpp"

namespace heapwise::detail {

constinit page_returns the_page_returns;

bool page_returns::give_back(void* memory, std::size_t size_bytes) noexcept {
  const std::uint32_t before = refusals_.load(std::memory_order_relaxed);
  if (before >= most_refusals) return false;
  const bool given_back = purge_slices(memory, size_bytes);
  const std::uint32_t now = given_back ? 0 : before + 1;
  if (now != before) refusals_.store(now, std::memory_order_relaxed);
  return given_back;
}

void page_returns::try_again() noexcept {
  if (refused()) refusals_.store(most_refusals - 1, std::memory_order_relaxed);
}

} // namespace heapwise::detail
