#include <heapwise/detail/cache_registry.hpp>

#include <atomic>
#include <mutex>

namespace heapwise::detail {
namespace {

/// Guards the list of pools. Taken before any pool's own lock.
constinit std::mutex registry_mutex;
constinit cached_pool* first_pool = nullptr;

/// Its destructor is what runs when a thread exits.
struct thread_exit {
  cache_table* table = nullptr;
  ~thread_exit();
};

thread_local thread_exit at_exit;

}  // namespace

cached_pool::cached_pool() noexcept {
  static constinit std::atomic<std::uint64_t> next_id{1};
  id_ = next_id.fetch_add(1, std::memory_order_relaxed);  // only distinctness matters
  const std::scoped_lock lock{registry_mutex};
  next_ = first_pool;
  link_ = &first_pool;
  if (next_ != nullptr) next_->link_ = &next_;
  first_pool = this;
}

void cached_pool::unlist() noexcept {
  const std::scoped_lock lock{registry_mutex};
  if (link_ == nullptr) return;
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
  link_ = nullptr;
}

cached_pool::~cached_pool() { unlist(); }

void retire_thread(const void* thread) noexcept {
  const std::scoped_lock lock{registry_mutex};
  for (cached_pool* each = first_pool; each != nullptr; each = each->next_) each->retire(thread);
}

namespace {

thread_exit::~thread_exit() {
  if (table == nullptr) return;
  table->thread_state = cache_table::state::retired;
  table->entries.fill({});
  retire_thread(table);
}

}  // namespace

bool register_thread() noexcept {
  cache_table& table = this_thread_caches;
  if (table.thread_state == cache_table::state::fresh) {
    table.thread_state = cache_table::state::registered;
    at_exit.table = &table;
  }
  return table.thread_state == cache_table::state::registered;
}

}  // namespace heapwise::detail
