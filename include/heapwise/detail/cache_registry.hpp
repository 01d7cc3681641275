// Which thread holds which cache of which pool, and what happens when either of them goes away.
#pragma once

#include <cstddef>

namespace heapwise::detail {

/// What a thread knows of its caches: an array indexed by the pools' slots. Its address names the
/// thread. Written by its thread, and by a pool's destructor, which clears the pool's own slot.
struct cache_table {
  void** caches = nullptr;
  std::size_t size = 0;
  enum class state : unsigned char { fresh, registered, retired } thread_state = state::fresh;

  [[nodiscard]] void* at(std::size_t slot) const noexcept {
    return slot < size ? caches[slot] : nullptr;
  }
};

// constinit: an access is a plain load, with no guard to be tested on the fast path.
inline thread_local constinit cache_table this_thread_caches{};

/// A pool that keeps caches for threads. All of them are listed while they live, so that a thread
/// that exits finds the pools that may still hold a cache of its.
class cached_pool {
 public:
  /// Effects: gives back what the thread's cache holds; the thread will not come again.
  /// Called with the registry locked, so the pool cannot be destroyed meanwhile.
  virtual void retire(const cache_table* thread) noexcept = 0;

  /// Effects: calls forget(slot()) for each thread that holds a cache. Called with the registry
  /// locked, by `unlist`.
  virtual void forget_all() noexcept = 0;

  /// This pool's place in every thread's table; no other living pool has it.
  [[nodiscard]] std::size_t slot() const noexcept { return slot_; }

  /// The pool listed after this one. Requires: the registry's lock.
  [[nodiscard]] cached_pool* next() const noexcept { return next_; }

 protected:
  cached_pool() noexcept = default;
  cached_pool(const cached_pool&) = delete;
  cached_pool& operator=(const cached_pool&) = delete;
  ~cached_pool() = default;

  /// Effects: puts the pool on the list and gives it a slot. The constructor of the most derived
  /// class must call it last: from then on a thread that exits calls retire.
  void list() noexcept;

  /// Effects: takes the pool off the list and out of all tables; after it no thread will call
  /// retire, and the slot may serve another pool. The destructor of the most derived class must
  /// call it first.
  void unlist() noexcept;

 private:
  std::size_t slot_ = 0;
  cached_pool* next_ = nullptr;
  cached_pool** link_ = nullptr;
};

/// Effects: notes the calling thread's cache in its table, and arranges that `retire` of all living
/// pools is called when the thread exits.
/// Returns: false if there is no memory, or if the thread is past that point (a destructor of a
/// thread-local object that runs late): then it must not get a cache.
[[nodiscard]] bool enter_cache(std::size_t slot, void* cache) noexcept;

/// Returns: true if the calling thread may have caches.
[[nodiscard]] bool thread_may_cache() noexcept;

}  // namespace heapwise::detail
