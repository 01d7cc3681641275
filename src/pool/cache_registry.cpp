#include <heapwise/detail/cache_registry.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "os/os.hpp"

namespace heapwise::detail::inline v0_1 {

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
  const bool locks = !os::is_single_threaded();
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

bool cache_table::reach(std::size_t slot) noexcept {
  if (slot < size_) return true;
  if (slot < first_size) { // the first pool of this thread
    places_ = first_places_.data();
    size_ = first_size;
    return true;
  }
  std::size_t size = std::max(size_ * 2, os::page_bytes() / sizeof(place));
  while (size <= slot) size *= 2;
  void* const memory = os::map(size * sizeof(place), os::page_bytes());
  if (memory == nullptr) return false;
  if (size_ != 0) std::memcpy(memory, places_, size_ * sizeof(place));
  unmap_places();
  places_ = static_cast<place*>(memory); // zeroed: all others are empty
  size_ = size;
  return true;
}

void cache_table::unmap_places() noexcept {
  if (size_ > first_size) os::unmap(places_, size_ * sizeof(place));
}

bool cache_table::enter(cached_pool& pool, void* cache) noexcept {
  if (!reach(pool.slot())) return false;
  places_[pool.slot()] = {&pool, cache};
  return true;
}

void cache_table::forget(const cached_pool& pool) noexcept {
  if (pool.slot() < size_) places_[pool.slot()] = {};
}

void cache_table::retire() noexcept {
  for (std::size_t i = 0; i < size_; ++i) {
    if (places_[i].pool != nullptr) places_[i].pool->retire(places_[i].cache);
  }
  unmap_places();
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

} // namespace heapwise::detail::inline v0_1
