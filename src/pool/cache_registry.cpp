#include <heapwise/detail/cache_registry.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "os/os.hpp"

namespace heapwise::detail {
namespace {

/// Guards the list of pools, the slots, and the size of every thread's table.
/// Lock order: this one, then a pool's own.
constinit std::mutex registry_mutex;

/// Ordered by slot, so that the first gap is the lowest free slot.
constinit cached_pool* first_pool = nullptr;

/// Its destructor is what runs when a thread exits.
struct thread_exit {
  cache_table* table = nullptr;
  ~thread_exit();
};

thread_local thread_exit at_exit;

std::size_t table_bytes(std::size_t size) noexcept { return size * sizeof(void*); }

} // namespace

bool cache_table::enter(std::size_t slot, void* cache) noexcept {
  if (slot >= near_size - 1 && slot - (near_size - 1) >= far_size_) {
    std::size_t size = std::max(far_size_ * 2, os::page_bytes() / sizeof(void*));
    while (size <= slot - (near_size - 1)) size *= 2;
    void* const memory = os::map(table_bytes(size), os::page_bytes());
    if (memory == nullptr) return false;
    if (far_size_ != 0) {
      std::memcpy(memory, far_, table_bytes(far_size_));
      os::unmap(far_, table_bytes(far_size_));
    }
    far_ = static_cast<void**>(memory);
    far_size_ = size;
  }
  *place_of(slot) = cache;
  return true;
}

void cache_table::retire() noexcept {
  if (far_size_ != 0) os::unmap(far_, table_bytes(far_size_));
  *this = cache_table{};
  thread_state = state::retired;
}

void cached_pool::list() noexcept {
  const std::scoped_lock lock{registry_mutex};
  link_ = &first_pool;
  while (*link_ != nullptr && (*link_)->slot_ == slot_) {
    link_ = &(*link_)->next_;
    ++slot_;
  }
  next_ = *link_;
  if (next_ != nullptr) next_->link_ = &next_;
  *link_ = this;
}

void cached_pool::unlist() noexcept {
  const std::scoped_lock lock{registry_mutex};
  forget_all();
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

namespace {

thread_exit::~thread_exit() {
  if (table == nullptr) return;
  const std::scoped_lock lock{registry_mutex};
  for (cached_pool* each = first_pool; each != nullptr; each = each->next()) each->retire(table);
  // From here on no pool's destructor reaches for the table.
  table->retire();
}

} // namespace

bool thread_may_cache() noexcept {
  return this_thread_caches.thread_state != cache_table::state::retired;
}

bool enter_cache(std::size_t slot, void* cache) noexcept {
  cache_table& table = this_thread_caches;
  if (table.thread_state == cache_table::state::retired) return false;
  table.thread_state = cache_table::state::registered;
  at_exit.table = &table;
  const std::scoped_lock lock{registry_mutex};
  return table.enter(slot, cache);
}

} // namespace heapwise::detail
