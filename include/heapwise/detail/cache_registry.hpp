// Which thread holds which cache of which pool, and what happens when either of them goes away.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include <heapwise/detail/config.hpp>

namespace heapwise::detail::inline v0_2 {

class cached_pool;

/// What a thread knows of its caches, indexed by the pools' slots. Its address names the thread.
/// Written by its thread, and by a pool's destructor, which clears the pool's own place.
///
/// Each place says whose cache it holds. A process may contain several copies of the library (two
/// plug-ins that are linked with the static library), and each copy numbers its pools itself: a
/// slot alone could lead to a cache of another pool. The comparison with the pool costs no more
/// than one with nullptr.
///
/// The first slots lie in the table itself; a program with more pools at a time finds the others in
/// an array that grows.
class cache_table {
 public:
  /// The number of places that are looked at first. A table must fit into the thread-local storage
  /// that the C library keeps free for plug-ins, 1 to 2 KiB for all of them.
  static constexpr std::size_t near_size = 32;
  /// The far place of a pool whose slot is near.
  static constexpr std::size_t no_place = static_cast<std::size_t>(-1);

  enum class state : unsigned char { fresh, registered, retired };

  /// Returns: the cache that this thread has of `pool`, nullptr if there is none at the near place.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* find_near(const cached_pool* pool,
                                                       std::size_t near_place) const noexcept {
    if (near_pools_[near_place] != pool) [[unlikely]]
      return nullptr;
    HEAPWISE_ASSUME(near_caches_[near_place] != nullptr);
    return near_caches_[near_place];
  }
  /// Returns: as find_near, for a far place, which need not exist.
  [[nodiscard]] void* find_far(const cached_pool* pool, std::size_t far_place) const noexcept {
    return far_place < far_size_ && far_[far_place].pool == pool ? far_[far_place].cache : nullptr;
  }

  /// Requires: the registry's lock. Effects: notes a cache.
  /// Returns: false if there is no memory for it.
  [[nodiscard]] bool enter(cached_pool& pool, void* cache) noexcept;
  /// Requires: the registry's lock, and that the pool was entered. Effects: removes its cache.
  void forget(const cached_pool& pool) noexcept;
  /// Requires: the registry's lock. Effects: calls `retire` of each pool that has a cache here, and
  /// forgets all; the thread gets no cache any more. Complexity: O(largest slot that was entered).
  void retire() noexcept;

  state thread_state = state::fresh;

 private:
  struct place {
    cached_pool* pool;
    void* cache;
  };

  void set(std::size_t slot, place to) noexcept;
  [[nodiscard]] bool reach(std::size_t far_place) noexcept;

  std::array<cached_pool*, near_size> near_pools_{};
  std::array<void*, near_size> near_caches_{};
  place* far_ = nullptr;
  std::size_t far_size_ = 0;
};

// Defined once in each copy of the library: a program that hides its symbols must not have a second
// one. A copy numbers the pools of its own registry, so it must not use the table of another copy.
// constinit: an access is a plain load, with no guard to be tested on the fast path.
HEAPWISE_OWN_EXPORT extern thread_local constinit cache_table this_thread_caches;

/// The living pools that keep caches for threads, of one copy of the library in a process.
struct cache_registry {
  /// Returns: the calling thread's table in this copy. A function of the copy's own, since a
  /// thread-local variable of another copy cannot be named. Effects: from the first call on,
  /// `retire` of the table is called when the thread ends.
  cache_table& (*this_thread)() noexcept;
  /// Guards the list of pools, the slots, and the contents of every thread's table.
  /// Lock order: this one, then a pool's own.
  std::mutex mutex{};
  /// Ordered by slot, so that the first gap is the lowest free slot.
  cached_pool* first = nullptr;
};

/// A pool that keeps caches for threads. All of them are listed while they live.
///
/// A pool belongs to the copy of the library that constructed it, and remembers its registry. Code
/// that is linked with another copy finds no cache in its own table, and takes the slower way by
/// `find_at_home`: pools may cross between plug-ins as long as both have the same version.
class cached_pool {
 public:
  /// Effects: gives back what a thread's cache holds; the thread will not come again.
  /// Called with the registry locked, so the pool cannot be destroyed meanwhile.
  virtual void retire(void* cache) noexcept = 0;

  /// Effects: calls forget(*this) of the table of each thread that holds a cache. Called with the
  /// registry locked, by `unlist`.
  virtual void forget_all() noexcept = 0;

  /// Effects: takes, or releases, all locks of the pool, around a fork. Called with the registry
  /// locked.
  virtual void lock_for_fork() noexcept = 0;
  virtual void unlock_after_fork() noexcept = 0;
  /// Effects: in a child of fork, marks as lost each cache that another thread than that of
  /// `survivor` has: such a thread does not exist here, its table may be unmapped, and its cache
  /// may be in the middle of a change. Requires: lock_for_fork was called before the fork.
  virtual void lose_caches(const cache_table* survivor) noexcept = 0;

  /// This pool's place in every thread's table; no other living pool of its copy has it.
  [[nodiscard]] std::size_t slot() const noexcept { return slot_; }

  /// The pool listed after this one. Requires: the registry's lock.
  [[nodiscard]] cached_pool* next() const noexcept { return next_; }

  /// Returns: the calling thread's cache if this copy of the library has it, else nullptr.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* find_cache() const noexcept {
    void* const near = this_thread_caches.find_near(this, near_place_);
    return near != nullptr ? near : find_far();
  }
  /// Returns: the calling thread's cache, nullptr if it has none.
  [[nodiscard]] void* find_at_home() const noexcept {
    const cache_table& table = table_at_home();
    void* const near = table.find_near(this, near_place_);
    return near != nullptr ? near : table.find_far(this, far_place_);
  }
  /// The calling thread's table, in the copy of the library that constructed the pool.
  [[nodiscard]] cache_table& table_at_home() const noexcept { return home_->this_thread(); }

  /// Returns: true if the calling thread may have caches: it is not past the point of its end where
  /// they were retired (a destructor of a thread-local object may run later).
  [[nodiscard]] bool thread_may_cache() const noexcept {
    return table_at_home().thread_state != cache_table::state::retired;
  }
  /// Effects: notes the calling thread's cache in its table. Returns: false if there is no memory,
  /// or if the thread may have none.
  [[nodiscard]] bool enter_cache(void* cache) noexcept;

 protected:
  cached_pool() noexcept = default;
  cached_pool(const cached_pool&) = delete;
  cached_pool& operator=(const cached_pool&) = delete;
  ~cached_pool() = default;

  /// Effects: puts the pool on the list and gives it a slot. The constructor of the most derived
  /// class must call it last: from then on a fork or a thread that ends may call it.
  /// Complexity: O(living pools).
  // Each copy of the library calls its own `list`, as it uses its own table: so code that is linked
  // with a copy finds the caches of its pools in that table. The other functions may be those of
  // another copy, because they ask the pool for its registry.
  HEAPWISE_OWN_EXPORT void list() noexcept;

  /// Effects: takes the pool off the list and out of all tables; after it no thread will call
  /// retire, and the slot may serve another pool. The destructor of the most derived class must
  /// call it first.
  void unlist() noexcept;

 private:
  /// For programs with many pools. Inlined: a call would make every function that uses a pool save
  /// registers for it.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* find_far() const noexcept {
    return this_thread_caches.find_far(this, far_place_);
  }

  cache_registry* home_ = nullptr;
  std::size_t slot_ = 0;
  std::size_t near_place_ = 0;
  std::size_t far_place_ = cache_table::no_place;
  cached_pool* next_ = nullptr;
  cached_pool** link_ = nullptr;
};

} // namespace heapwise::detail::inline v0_2
