// When a copy of the process is made, and how fast the program may allocate while it marks. The
// program is slowed down little by little, so that no thread has to wait for the copy as a whole.
// Others do so, too: the "pacer" of Go's collector, "pacing" in Shenandoah.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heapwise::gc {

/// How large the heap was when the last copy was made, and by how much it grew until the copy had
/// marked. 0: there was none.
struct growth_beside_copy {
  std::size_t heap_bytes = 0;
  std::size_t grown_bytes = 0;
};

/// Returns: by how much a heap of `heap_bytes` will grow while a copy of it marks. Marking takes
/// longer by as much as the heap is larger.
[[nodiscard]] constexpr std::size_t expected_growth(growth_beside_copy last,
                                                    std::size_t heap_bytes) noexcept {
  if (last.heap_bytes == 0) return 0;
  const double larger = static_cast<double>(heap_bytes) / static_cast<double>(last.heap_bytes);
  return static_cast<std::size_t>(static_cast<double>(last.grown_bytes) * larger);
}

/// How fast copies mark, by the last of them that had enough to do.
class marking_speed {
 public:
  /// Effects: notes down that a copy took as long for this many reachable bytes.
  constexpr void note(std::uint64_t marking_ns, std::size_t reached_bytes) noexcept {
    constexpr std::size_t least_bytes = std::size_t{4} << 20; // less is mostly the way there
    if (reached_bytes < least_bytes) return;
    ns_per_byte_ = static_cast<double>(marking_ns) / static_cast<double>(reached_bytes);
  }

  /// Returns: how long a copy takes that reaches this many bytes.
  [[nodiscard]] constexpr std::uint64_t expected_ns(std::size_t reached_bytes) const noexcept {
    return static_cast<std::uint64_t>(ns_per_byte_ * static_cast<double>(reached_bytes));
  }

 private:
  double ns_per_byte_ = 0.5; // small blocks that lead to each other
};

/// Slows down a program that allocates while a copy marks. The heap has a room to grow. Once that
/// is used up, each thread gets a span and rests for most_ns, again and again, until the copy has
/// marked. Thread safety: none.
class pacer {
 public:
  /// A thread never rests longer at once.
  static constexpr std::uint64_t most_ns = 2'000'000;
  /// The system does not wake a thread much earlier.
  static constexpr std::uint64_t least_ns = 100'000;
  /// From the half on, each part of the remaining room takes as large a part of this time, or of
  /// the time that marking is expected to take if that is longer. So the room is used up ever more
  /// slowly: half of the rest in 0.7 of that time, as long as rests are shorter than most_ns.
  static constexpr std::uint64_t least_patience_ns = 5'000'000;

  /// Effects: a copy begins to mark, which is expected to take `marking_ns`. Until it has, the heap
  /// should not grow from `heap_bytes` to more than `most_bytes`.
  constexpr void begin(std::size_t heap_bytes, std::size_t most_bytes,
                       std::uint64_t marking_ns) noexcept {
    patience_ns_ = std::max(least_patience_ns, marking_ns);
    begin_bytes_ = heap_bytes;
    room_bytes_ = most_bytes - std::min(most_bytes, heap_bytes);
    most_bytes_ = most_bytes;
    open_at_ns_ = 0;
  }

  /// Returns: of how large a heap the copy was made.
  [[nodiscard]] constexpr std::size_t begin_bytes() const noexcept { return begin_bytes_; }

  /// Returns: whether a thread has to wait for the copy, however long it takes, if the heap is to
  /// become as large: rests have let it grow by the room once more. A large block does so at once,
  /// many threads do, and one thread does only beside a copy that is late by far.
  [[nodiscard]] constexpr bool is_too_large(std::size_t heap_bytes) const noexcept {
    return heap_bytes > most_bytes_ + room_bytes_;
  }

  /// Returns: how long the thread should rest that has let the heap grow by `taken_bytes` to
  /// `heap_bytes`, at most most_ns. Threads go on one after the other, so each rests longer if
  /// there are more of them.
  [[nodiscard]] constexpr std::uint64_t rest_ns(std::size_t heap_bytes, std::size_t taken_bytes,
                                                std::uint64_t now_ns) noexcept {
    const std::size_t left = most_bytes_ - std::min(most_bytes_, heap_bytes);
    if (left >= room_bytes_ / 2) return 0;
    const double part =
        static_cast<double>(taken_bytes) / static_cast<double>(std::max(left, taken_bytes));
    open_at_ns_ = std::max(open_at_ns_, now_ns) +
                  static_cast<std::uint64_t>(part * static_cast<double>(patience_ns_));
    const std::uint64_t rest = open_at_ns_ - now_ns;
    return rest < least_ns ? 0 : std::min(rest, most_ns); // short ones add up
  }

 private:
  std::size_t begin_bytes_ = 0;
  std::size_t room_bytes_ = 0;
  std::size_t most_bytes_ = 0;
  std::uint64_t patience_ns_ = least_patience_ns;
  std::uint64_t open_at_ns_ = 0; // when the next thread may go on
};

} // namespace heapwise::gc
