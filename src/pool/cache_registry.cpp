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

/// Requires: the lock. Effects: makes room for `slot` in the calling thread's table.
bool enlarge(cache_table& table, std::size_t slot) noexcept {
  std::size_t size = std::max(table.size * 2, os::page_bytes() / sizeof(void*));
  while (size <= slot) size *= 2;
  void* const memory = os::map(table_bytes(size), os::page_bytes());
  if (memory == nullptr) return false;
  if (table.size != 0) {
    std::memcpy(memory, table.caches, table_bytes(table.size));
    os::unmap(table.caches, table_bytes(table.size));
  }
  table.caches = static_cast<void**>(memory);
  table.size = size;
  return true;
}

}  // namespace

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
  if (table->size != 0) os::unmap(table->caches, table_bytes(table->size));
  *table = cache_table{.caches = nullptr, .size = 0, .thread_state = cache_table::state::retired};
}

}  // namespace

bool thread_may_cache() noexcept {
  return this_thread_caches.thread_state != cache_table::state::retired;
}

bool enter_cache(std::size_t slot, void* cache) noexcept {
  cache_table& table = this_thread_caches;
  if (table.thread_state == cache_table::state::retired) return false;
  table.thread_state = cache_table::state::registered;
  at_exit.table = &table;
  const std::scoped_lock lock{registry_mutex};
  if (slot >= table.size && !enlarge(table, slot)) return false;
  table.caches[slot] = cache;
  return true;
}

}  // namespace heapwise::detail
