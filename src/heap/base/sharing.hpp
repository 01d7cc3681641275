// Memory that threads share. A build with HEAPWISE_COUNTS_SHARING counts how often its cache lines
// change hands and how long locks are held (docs/many-cores.md). Other builds keep nothing of it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "os/measuring.hpp"
#include "os/mutex.hpp"

namespace heapwise::detail {

#if defined(HEAPWISE_COUNTS_SHARING)
inline constexpr bool counts_sharing = true;
#else
inline constexpr bool counts_sharing = false;
#endif

enum class shared : std::uint8_t {
  // locks
  bin,
  mixed,
  space,
  purging,
  idle_caches,
  batches,
  large_stock,
  large_quarantine,
  // lines that are written, with or without a lock
  batch,         // the addresses in one that threads pass on
  span_record,   // what is known of a span of small blocks
  bin_figures,   // sums over all bins
  large_figures, // sums over all large blocks
};
inline constexpr std::size_t shared_kinds = static_cast<std::size_t>(shared::large_figures) + 1;

/// The thread that wrote to a line last. Thread safety: all; it may miss a change.
class last_writer {
 public:
  /// Effects: the calling thread is the last one. Returns: whether it was another one before.
  bool take_over() noexcept {
    const void* const own = os::this_thread();
    // Relaxed: only the pointer is compared.
    const void* const last = last_.exchange(own, std::memory_order_relaxed);
    return last != nullptr && last != own;
  }

 private:
  std::atomic<const void*> last_{nullptr};
};

struct line_counts {
  std::atomic<std::uint64_t> writes{0};
  std::atomic<std::uint64_t> handovers{0}; // writes after one of another thread
};
extern std::array<line_counts, shared_kinds> the_line_counts;

/// Stands in memory that threads write to by turns, and counts them. An empty class unless sharing
/// is counted. Thread safety: all.
template <shared kind, bool counts = counts_sharing>
class line_mark {
 public:
  void written() noexcept {}
};

template <shared kind>
class line_mark<kind, true> {
 public:
  void written() noexcept {
    line_counts& counts = the_line_counts[static_cast<std::size_t>(kind)];
    counts.writes.fetch_add(1, std::memory_order_relaxed);
    if (writer_.take_over()) counts.handovers.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  last_writer writer_;
};

/// A lock that counts. Thread safety: as os::mutex; what it has counted is written by its holder.
class counted_lock {
 public:
  static constexpr std::size_t hold_classes = 40;

  struct figures {
    std::uint64_t acquisitions = 0;
    std::uint64_t contended = 0; // had to wait
    std::uint64_t handovers = 0; // the last holder was another thread
    std::uint64_t hold_ns = 0;   // without those that were interrupted
    std::uint64_t longest_ns = 0;
    std::uint64_t interrupted = 0;                   // the system let another thread run meanwhile
    std::array<std::uint64_t, hold_classes> holds{}; // by the logarithm of their nanoseconds
  };

  constexpr explicit counted_lock(shared kind) noexcept : kind_{kind} {}

  void lock() noexcept;
  [[nodiscard]] bool try_lock() noexcept;
  void unlock() noexcept;

  [[nodiscard]] shared kind() const noexcept { return kind_; }
  [[nodiscard]] const figures& counts() const noexcept { return counts_; }
  [[nodiscard]] const counted_lock* next() const noexcept { return next_; }

  /// Returns: the first of all locks that were ever taken.
  [[nodiscard]] static const counted_lock* first() noexcept;

 private:
  void begin_hold(bool waited, long switches) noexcept;

  os::mutex mutex_;
  shared kind_;
  counted_lock* next_ = nullptr;
  last_writer holder_;
  std::uint64_t since_ns_ = 0;
  long switches_ = 0; // of the holder, before it had the lock
  figures counts_;
};

template <shared what>
class counted_lock_of : public counted_lock {
 public:
  constexpr counted_lock_of() noexcept : counted_lock{what} {}
};

/// The locks of the heap.
template <shared kind>
using heap_mutex = std::conditional_t<counts_sharing, counted_lock_of<kind>, os::mutex>;

/// Effects: writes one line for each kind to standard error.
void write_sharing() noexcept;

} // namespace heapwise::detail
