// A tape for each thread, and room for its blocks, outside the heap under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/memory/mapped_array.hpp"
#include "harness/random.hpp"
#include "workload/tape.hpp"

namespace heaps {

class thread_tapes {
 public:
  /// `operations` of each tape, an even number.
  thread_tapes(const heapwise::bench::size_mix& mix, std::size_t threads, std::size_t operations,
               heapwise::bench::random_numbers& random)
      : thread_tapes{threads, operations, mix.most_live,
                     [&](std::span<heapwise::bench::operation> part) {
                       return heapwise::bench::make_tape(part, mix, random.next());
                     }} {}

  /// `fill` writes a tape into its part, with at most `most_live` blocks at once.
  template <class Fill>
  thread_tapes(std::size_t threads, std::size_t operations, std::size_t most_live, Fill&& fill)
      : memory_{threads * operations},
        tapes_{threads},
        slots_{threads * most_live},
        slots_each_{most_live} {
    for (std::size_t i = 0; i < threads; ++i) {
      tapes_[i] = fill(memory_.span().subspan(i * operations, operations));
      allocations_ += tapes_[i].allocations;
      requested_bytes_ += tapes_[i].requested_bytes;
      peak_live_bytes_ += tapes_[i].peak_live_bytes;
    }
  }

  [[nodiscard]] const heapwise::bench::tape& of(std::size_t thread) const noexcept {
    return tapes_[thread];
  }
  [[nodiscard]] void** slots(std::size_t thread) const noexcept {
    return slots_.data() + thread * slots_each_;
  }

  // Of all threads together; the peak: when each is at its own.
  [[nodiscard]] std::size_t threads() const noexcept { return tapes_.size(); }
  [[nodiscard]] std::uint64_t operations() const noexcept { return memory_.size(); }
  [[nodiscard]] std::uint64_t allocations() const noexcept { return allocations_; }
  [[nodiscard]] std::uint64_t requested_bytes() const noexcept { return requested_bytes_; }
  [[nodiscard]] std::uint64_t peak_live_bytes() const noexcept { return peak_live_bytes_; }

 private:
  heapwise::bench::mapped_array<heapwise::bench::operation> memory_;
  heapwise::bench::mapped_array<heapwise::bench::tape> tapes_;
  heapwise::bench::mapped_array<void*> slots_;
  std::size_t slots_each_;
  std::uint64_t allocations_ = 0;
  std::uint64_t requested_bytes_ = 0;
  std::uint64_t peak_live_bytes_ = 0;
};

} // namespace heaps
