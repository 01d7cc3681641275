#include "heap/space/huge_pages.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "heap/base/options.hpp"
#include "heap/space/space.hpp"
#include "os/os.hpp"
#include "os/placement.hpp"

namespace heapwise::detail {

namespace {

/// Whether all slices are in small pages, those that are mapped later included.
constinit std::atomic<bool> left_huge_pages{false};

/// Where the system gives huge pages unasked, each process would take some for its first blocks.
constexpr std::size_t bytes_in_small_pages = std::size_t{4} << 20;

bool are_whole_huge_pages(const void* memory, std::size_t bytes) noexcept {
  const std::size_t huge_page = os::huge_page_bytes();
  return reinterpret_cast<std::uintptr_t>(memory) % huge_page == 0 && bytes % huge_page == 0;
}

/// Effects: all slices that there are, and those to come, are in small pages.
void leave_huge_pages() noexcept {
  const std::lock_guard hold{the_space.lock()}; // no slices come meanwhile
  // Sequentially consistent, as the load in choose_pages: where a thread maps a place again without
  // the lock, it sees this, or the advice below comes after its mapping.
  if (left_huge_pages.exchange(true)) return;
  const std::size_t slices = the_space.committed_slices();
  if (slices > 0) os::avoid_huge_pages(the_space.address_of(0), slices * slice_bytes);
}

} // namespace

void choose_pages(std::byte* begin, std::size_t bytes) noexcept {
  // Sequentially consistent: the partner is the exchange in leave_huge_pages.
  if (the_options.huge_pages == huge_pages::never || left_huge_pages.load()) {
    os::avoid_huge_pages(begin, bytes);
  } else if (the_options.huge_pages == huge_pages::by_the_system) {
    const std::size_t before = the_space.slice_of(begin) * slice_bytes;
    if (before < bytes_in_small_pages) {
      os::avoid_huge_pages(begin, std::min(bytes, bytes_in_small_pages - before));
    }
  } else if (the_options.huge_pages >= huge_pages::asked) {
    os::prefer_huge_pages(begin, bytes);
  }
}

bool purge_slices(void* memory, std::size_t bytes) noexcept {
  // Relaxed: a thread that does not see it yet looks again under the lock.
  if (!left_huge_pages.load(std::memory_order_relaxed) &&
      the_options.huge_pages != huge_pages::always && !are_whole_huge_pages(memory, bytes))
      [[unlikely]] {
    leave_huge_pages();
  }
  return os::purge(memory, bytes);
}

} // namespace heapwise::detail
