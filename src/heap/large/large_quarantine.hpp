// Large blocks that were freed in the profile `hardened`, and that nobody is given yet. Blocks of
// up to 1 MiB are cleared, and the next owner of one finds out whether it was written to meanwhile.
// The pages of longer ones are hidden: a touch of them faults.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/base/shards.hpp"
#include "heap/base/sharing.hpp"
#include "heap/space/span.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

/// Spans in the order in which their blocks were freed. The one that leaves is one of the older
/// half, chosen at random: none leaves before as many others were freed as the younger half has,
/// and nobody can say which it is. Thread safety: none, except for `slices`.
template <std::uint32_t most_slices>
class held_spans {
 public:
  static constexpr std::size_t most_spans = 32;
  /// A longer span would drive all others out at once.
  static constexpr std::uint32_t longest = most_slices / 2 + 1;

  /// Requires: at most `longest` slices; !has_excess().
  void add(span& freed) noexcept {
    expects(freed.slices <= longest && !has_excess(), "there is room for the block");
    spans_[count_++] = &freed;
    slices_.store(slices() + freed.slices, std::memory_order_relaxed);
  }

  /// Returns: whether one has to leave before another one is added.
  [[nodiscard]] bool has_excess() const noexcept {
    return count_ > most_spans || slices() > most_slices;
  }

  /// Returns: how many there are of which the next to leave is one. 0: it holds none.
  [[nodiscard]] std::size_t older_half() const noexcept { return (count_ + 1) / 2; }

  /// Returns: a span that it does not hold any more. Requires: at < older_half().
  [[nodiscard]] span& take(std::size_t at) noexcept {
    expects(at < older_half(), "one of the older half leaves");
    span& left = *spans_[at];
    std::copy(spans_.begin() + at + 1, spans_.begin() + count_, spans_.begin() + at);
    --count_;
    slices_.store(slices() - left.slices, std::memory_order_relaxed);
    return left;
  }

  template <class Visit>
  void each(Visit visit) noexcept {
    for (std::size_t at = 0; at < count_; ++at) visit(*spans_[at]);
  }

  /// Thread safety: all.
  [[nodiscard]] std::uint32_t slices() const noexcept {
    return slices_.load(std::memory_order_relaxed);
  }

 private:
  std::array<span*, most_spans + 1> spans_{};
  std::size_t count_ = 0;
  std::atomic<std::uint32_t> slices_{0};
};

/// What the processors of a shard freed.
struct alignas(cache_line_bytes) large_quarantine {
  heap_mutex<shared::large_quarantine> lock;
  held_spans<36> cleared;  // 2 MiB that may be resident, and what is hidden behind them
  held_spans<1024> hidden; // 64 MiB of addresses
};
extern std::array<large_quarantine, most_shards> the_large_quarantines;

/// Effects: holds a block back that is free from now on. Others may leave: they serve requests.
/// Reports one that was written to, if it goes back to the space. Requires: close_large of the
/// block was the caller's; no lock is held.
void hold_back_large(span& freed) noexcept;

/// Effects: reports a block that was written to after it was freed; else it reads as zero.
/// Requires: the block was held back, and its pages are not hidden; no lock is held.
void expect_unwritten(const span& waited) noexcept;

/// Effects: what a block in use held behind the first `kept` bytes is gone. Requires: whole pages;
/// no page behind them is hidden.
void discard_behind(span& block, std::size_t kept) noexcept;

/// Effects: all blocks leave, and their slices go back to the space. Requires: no lock is held.
void release_held_large() noexcept;

/// Effects: gives the pages of blocks back that were held at the last call already. Their addresses
/// are held on. Safe in the clock's thread: reports nothing.
void purge_held_large() noexcept;

/// Returns: whether the address is in a block that was freed and whose pages are hidden. Safe in a
/// handler of a signal.
[[nodiscard]] bool is_in_hidden_block(const void* address) noexcept;

/// Returns: the bytes of all blocks that are held back, and of those that may be resident.
[[nodiscard]] std::size_t held_large_bytes() noexcept;
[[nodiscard]] std::size_t resident_held_bytes() noexcept;

} // namespace heapwise::detail
