// A cache for each thread that uses an allocator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

#include <heapwise/detail/cache_registry.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/hybrid/chunk_map.hpp>

namespace heapwise::detail::hybrids {

/// Finds the calling thread's cache with one load, makes one for a thread that has none, and keeps
/// those of threads that ended for the next ones. `Owner::leave(Cache&)` is called when a thread
/// ends, on that thread.
///
/// Requires: Owner's destructor destroys the set before anything that `leave` uses.
/// Thread safety: all; construction and destruction by one thread. Lock order: the registry's, the
/// set's, then those that `leave` takes.
template <class Cache, class Owner>
class cache_set final : public cached_pool {
 public:
  cache_set(Owner& owner, chunk_map& memory) noexcept : owner_{&owner}, memory_{&memory} { list(); }
  cache_set(const cache_set&) = delete;
  cache_set& operator=(const cache_set&) = delete;
  ~cache_set() {
    unlist();
    while (slabs_ != nullptr) {
      slab* const gone = slabs_;
      slabs_ = gone->next;
      for (seat& each : gone->seats) each.~seat();
      memory_->release(gone, sizeof(slab), alignof(slab));
    }
  }

  /// Returns: the calling thread's cache; nullptr if the thread is about to end, or there is no
  /// memory for one.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE Cache* find() noexcept {
    if (void* const mine = find_cache(); mine != nullptr) [[likely]]
      return &static_cast<seat*>(mine)->cache;
    return find_or_adopt();
  }

  /// Calls body(Cache&) for every cache there is, whether a thread has it or not.
  template <class Body>
  void for_each(const Body& body) const {
    const std::scoped_lock lock{mutex_};
    for (slab* some = slabs_; some != nullptr; some = some->next) {
      for (seat& each : some->seats) body(each.cache);
    }
  }

 private:
  struct seat {
    Cache cache;
    cache_table* thread = nullptr; ///< guarded by the set's lock
  };
  struct slab {
    slab* next;
    seat seats[4];
  };

  HEAPWISE_COLD Cache* find_or_adopt() noexcept {
    if (void* const mine = find_at_home(); mine != nullptr) return &static_cast<seat*>(mine)->cache;
    if (!thread_may_cache()) return nullptr;
    seat* const mine = claim();
    if (mine == nullptr) return nullptr;
    if (enter_cache(mine)) return &mine->cache;
    const std::scoped_lock lock{mutex_};
    mine->thread = nullptr;
    return nullptr;
  }

  seat* claim() noexcept {
    const std::scoped_lock lock{mutex_};
    seat* mine = free_seat();
    if (mine == nullptr) mine = make();
    if (mine != nullptr) mine->thread = &table_at_home();
    return mine;
  }

  [[nodiscard]] seat* free_seat() const noexcept {
    for (slab* some = slabs_; some != nullptr; some = some->next) {
      for (seat& each : some->seats) {
        if (each.thread == nullptr) return &each;
      }
    }
    return nullptr;
  }

  seat* make() noexcept {
    void* const memory = memory_->obtain(sizeof(slab), alignof(slab));
    if (memory == nullptr) return nullptr;
    slabs_ = ::new (memory) slab{slabs_, {}};
    return slabs_->seats;
  }

  void retire(void* left) noexcept override {
    const std::scoped_lock lock{mutex_};
    seat& mine = *static_cast<seat*>(left);
    owner_->leave(mine.cache);
    mine.thread = nullptr;
  }

  void forget_all() noexcept override {
    const std::scoped_lock lock{mutex_};
    for (slab* some = slabs_; some != nullptr; some = some->next) {
      for (seat& each : some->seats) {
        if (each.thread != nullptr) each.thread->forget(*this);
      }
    }
  }

  Owner* owner_;
  chunk_map* memory_;
  mutable std::mutex mutex_; // guards what follows
  slab* slabs_ = nullptr;
};

} // namespace heapwise::detail::hybrids
