// Which thread holds which cache of which pool, and what happens when either of them goes away.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwise::detail {

/// A pool that keeps caches for threads. All of them are listed while they live, so that a thread
/// that exits finds the pools that may still hold a cache of its.
class cached_pool {
 public:
  /// Effects: gives back what the thread's cache holds; the thread will not come again.
  /// Called with the registry locked, so the pool cannot be destroyed meanwhile.
  virtual void retire(const void* thread) noexcept = 0;

  /// A number that no other pool of the process ever had: a stale entry of a thread's table never
  /// matches a new pool.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

 protected:
  cached_pool() noexcept;
  cached_pool(const cached_pool&) = delete;
  cached_pool& operator=(const cached_pool&) = delete;
  ~cached_pool();

  /// Effects: takes the pool off the list; after it no thread will call retire.
  void unlist() noexcept;

 private:
  friend void retire_thread(const void* thread) noexcept;
  std::uint64_t id_;
  cached_pool* next_ = nullptr;
  cached_pool** link_ = nullptr;
};

/// What a thread knows of its caches: a small direct-mapped table. Its address names the thread.
struct cache_table {
  struct entry {
    std::uint64_t pool_id = 0;
    void* cache = nullptr;
  };
  static constexpr std::size_t size = 32;
  std::array<entry, size> entries{};
  enum class state : unsigned char { fresh, registered, retired } thread_state = state::fresh;

  [[nodiscard]] entry& entry_of(std::uint64_t pool_id) noexcept { return entries[pool_id % size]; }
};

// constinit: an access is a plain load, with no guard to be tested on the fast path.
inline thread_local constinit cache_table this_thread_caches{};

/// Effects: arranges that `retire` of all living pools is called when the calling thread exits.
/// Returns: false if the thread is past that point (a destructor of a thread-local object that
/// runs late): then it must not get a cache.
[[nodiscard]] bool register_thread() noexcept;

}  // namespace heapwise::detail
