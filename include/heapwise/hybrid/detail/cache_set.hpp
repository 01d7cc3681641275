// A cache for each thread that uses an allocator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

#include <heapwise/detail/cache_registry.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/hybrid/detail/chunk_map.hpp>

namespace heapwise::detail::hybrids {

/// Finds the calling thread's cache with one load. Makes a cache for a thread that has none. Keeps
/// the caches of threads that ended for later threads. When a thread ends, the set calls
/// `Owner::leave(Cache&)` on that thread. Around a fork, it calls `Owner::lock_for_fork`,
/// `unlock_after_fork` and `enter_child`.
///
/// Requires: the destructor of Owner destroys the set before anything that `leave` uses.
/// Thread safety: all threads at once, but one thread constructs and destroys the set. Lock order:
/// first the lock of the registry, then the lock of the set, then the locks that `leave` takes.
template <class Cache, class Owner>
class cache_set final : public cached_pool {
 public:
  cache_set(Owner& owner, chunk_map& memory) noexcept : owner_{&owner}, memory_{&memory} { list(); }
  cache_set(const cache_set&) = delete;
  cache_set& operator=(const cache_set&) = delete;
  ~cache_set() {
    unlist();
    while (slabs_ != nullptr) {
      slab* const first = slabs_;
      slabs_ = first->next;
      for (seat& each : first->seats) each.~seat();
      memory_->release(first, sizeof(slab), alignof(slab));
    }
  }

  /// Returns: the calling thread's cache; nullptr if the thread is about to end, or if there is no
  /// memory for a cache.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE Cache* find() noexcept {
    if (void* const mine = find_cache(); mine != nullptr) [[likely]]
      return &static_cast<seat*>(mine)->cache;
    return find_or_adopt();
  }

  /// Effects: calls body(Cache&) for every cache, whether a thread has it or not.
  template <class Body>
  void for_each(const Body& body) const {
    const std::scoped_lock lock{mutex_};
    for_each_seat([&body](seat& each) { body(each.cache); });
  }
  /// As for_each, but not for caches that a fork interrupted, because their contents cannot be
  /// relied on.
  template <class Body>
  void for_each_whole(const Body& body) const {
    const std::scoped_lock lock{mutex_};
    for_each_seat([&body](seat& each) {
      if (!each.lost) body(each.cache);
    });
  }

 private:
  struct seat {
    Cache cache;
    cache_table* thread = nullptr; ///< guarded by the set's lock
    bool lost = false;             ///< its thread belongs to the process that forked this one
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
        if (each.thread == nullptr && !each.lost) return &each;
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
    for_each_seat([this](seat& each) {
      if (each.thread != nullptr) each.thread->forget(*this);
    });
  }

  void lock_for_fork() noexcept override {
    mutex_.lock();
    owner_->lock_for_fork();
  }
  void unlock_after_fork() noexcept override {
    owner_->unlock_after_fork();
    mutex_.unlock();
  }
  void lose_caches(const cache_table* survivor) noexcept override {
    owner_->enter_child();
    for_each_seat([survivor](seat& each) {
      if (each.thread == nullptr || each.thread == survivor) return;
      each.thread = nullptr;
      each.lost = true;
    });
  }

  template <class Body>
  void for_each_seat(const Body& body) const {
    for (slab* some = slabs_; some != nullptr; some = some->next) {
      for (seat& each : some->seats) body(each);
    }
  }

  Owner* owner_;
  chunk_map* memory_;
  mutable std::mutex mutex_; // guards the members that follow
  slab* slabs_ = nullptr;
};

} // namespace heapwise::detail::hybrids
