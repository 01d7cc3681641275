#include <heapwise/detail/cache_registry.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "os/os.hpp"

namespace heapwise::detail::inline v0_2 {

constinit thread_local cache_table this_thread_caches{};

namespace {

cache_table& watched_table() noexcept;

constinit cache_registry the_registry{.this_thread = watched_table};

/// Its destructor is what runs when a thread exits.
struct thread_exit {
  cache_table* table = nullptr;
  ~thread_exit() {
    if (table == nullptr) return;
    const std::scoped_lock lock{the_registry.mutex};
    // From here on no pool's destructor reaches for the table.
    table->retire();
  }
};

thread_local thread_exit at_exit;

cache_table& watched_table() noexcept {
  cache_table& table = this_thread_caches;
  if (table.thread_state == cache_table::state::fresh) {
    table.thread_state = cache_table::state::registered;
    at_exit.table = &table;
  }
  return table;
}

constinit bool locked_for_fork = false; // written with the registry locked, or by the only thread

void before_fork() {
  // A signal handler may fork while its own thread holds a lock. If that is the only thread, parent
  // and child both have it, and both go on to unlock.
  const bool locks = !os::has_one_library_thread();
  if (locks) the_registry.mutex.lock();
  locked_for_fork = locks;
  if (!locks) return;
  for (cached_pool* each = the_registry.first; each != nullptr; each = each->next()) {
    each->lock_for_fork();
  }
}

void unlock_all() {
  if (!locked_for_fork) return;
  for (cached_pool* each = the_registry.first; each != nullptr; each = each->next()) {
    each->unlock_after_fork();
  }
  the_registry.mutex.unlock();
}

void in_child() {
  if (!locked_for_fork) return;
  for (cached_pool* each = the_registry.first; each != nullptr; each = each->next()) {
    each->lose_caches(&this_thread_caches);
  }
  unlock_all();
}

/// When the library is loaded: a pool made later could be the first one while another thread forks.
[[maybe_unused]] const bool forks_are_watched =
    (os::at_fork(before_fork, unlock_all, in_child), true);

} // namespace

bool cache_table::reach(std::size_t far_place) noexcept {
  if (far_place < far_size_) return true;
  std::size_t size = std::max(far_size_ * 2, os::page_bytes() / sizeof(place));
  while (size <= far_place) size *= 2;
  void* const memory = os::map(size * sizeof(place), os::page_bytes());
  if (memory == nullptr) return false;
  if (far_size_ != 0) {
    std::memcpy(memory, far_, far_size_ * sizeof(place));
    os::unmap(far_, far_size_ * sizeof(place));
  }
  far_ = static_cast<place*>(memory); // zeroed: all others are empty
  far_size_ = size;
  return true;
}

bool cache_table::enter(cached_pool& pool, void* cache) noexcept {
  const std::size_t slot = pool.slot();
  if (slot >= near_size && !reach(slot - near_size)) return false;
  set(slot, {&pool, cache});
  return true;
}

void cache_table::forget(const cached_pool& pool) noexcept { set(pool.slot(), {}); }

void cache_table::set(std::size_t slot, place to) noexcept {
  if (slot >= near_size) {
    far_[slot - near_size] = to;
    return;
  }
  near_pools_[slot] = to.pool;
  near_caches_[slot] = to.cache;
}

void cache_table::retire() noexcept {
  for (std::size_t i = 0; i < near_size; ++i) {
    if (near_pools_[i] != nullptr) near_pools_[i]->retire(near_caches_[i]);
  }
  for (std::size_t i = 0; i < far_size_; ++i) {
    if (far_[i].pool != nullptr) far_[i].pool->retire(far_[i].cache);
  }
  if (far_size_ != 0) os::unmap(far_, far_size_ * sizeof(place));
  *this = cache_table{};
  thread_state = state::retired;
}

void cached_pool::list() noexcept {
  home_ = &the_registry;
  const std::scoped_lock lock{home_->mutex};
  link_ = &home_->first;
  while (*link_ != nullptr && (*link_)->slot_ == slot_) {
    link_ = &(*link_)->next_;
    ++slot_;
  }
  if (slot_ < cache_table::near_size) {
    near_place_ = slot_;
  } else {
    far_place_ = slot_ - cache_table::near_size;
  }
  next_ = *link_;
  if (next_ != nullptr) next_->link_ = &next_;
  *link_ = this;
}

void cached_pool::unlist() noexcept {
  const std::scoped_lock lock{home_->mutex};
  forget_all();
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

bool cached_pool::enter_cache(void* cache) noexcept {
  cache_table& table = table_at_home();
  if (table.thread_state == cache_table::state::retired) return false;
  const std::scoped_lock lock{home_->mutex};
  return table.enter(*this, cache);
}

} // namespace heapwise::detail::inline v0_2
