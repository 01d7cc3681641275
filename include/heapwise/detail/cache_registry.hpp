// Which thread holds which cache of which pool, and what happens when either of them goes away.
#pragma once

#include <array>
#include <cstddef>

#include <heapwise/detail/config.hpp>

namespace heapwise::detail {

/// What a thread knows of its caches, indexed by the pools' slots. Its address names the thread.
/// Written by its thread, and by a pool's destructor, which clears the pool's own place.
///
/// The first slots lie in the table itself and are found with one load; a program with more pools
/// at a time finds the others in an array that grows.
class cache_table {
 public:
  /// The number of places found with one load; the last one stands for all later slots and is
  /// always empty.
  static constexpr std::size_t near_size = 64;

  enum class state : unsigned char { fresh, registered, retired };

  /// Returns: the place to give to find_near for a slot.
  [[nodiscard]] static constexpr std::size_t near_place(std::size_t slot) noexcept {
    return slot < near_size - 1 ? slot : near_size - 1;
  }
  /// Returns: the cache at a place, nullptr if there is none or if it may lie further away.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* find_near(std::size_t place) const noexcept {
    return near_[place];
  }
  /// Returns: the cache of a slot, nullptr if there is none.
  [[nodiscard]] void* find(std::size_t slot) const noexcept {
    if (slot < near_size - 1) return near_[slot];
    return slot - (near_size - 1) < far_size_ ? far_[slot - (near_size - 1)] : nullptr;
  }

  /// Requires: the registry's lock. Effects: notes a cache.
  /// Returns: false if there is no memory for it.
  [[nodiscard]] bool enter(std::size_t slot, void* cache) noexcept;
  /// Requires: the registry's lock, and that the slot was entered.
  void forget(std::size_t slot) noexcept { *place_of(slot) = nullptr; }
  /// Requires: the registry's lock. Effects: forgets all; the thread gets no cache any more.
  void retire() noexcept;

  state thread_state = state::fresh;

 private:
  [[nodiscard]] void** place_of(std::size_t slot) noexcept {
    return slot < near_size - 1 ? &near_[slot] : &far_[slot - (near_size - 1)];
  }

  std::array<void*, near_size> near_{};
  void** far_ = nullptr;
  std::size_t far_size_ = 0;
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

  /// Effects: calls forget(slot()) of the table of each thread that holds a cache. Called with the
  /// registry locked, by `unlist`.
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

} // namespace heapwise::detail
