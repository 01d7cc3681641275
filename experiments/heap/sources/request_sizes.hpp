// What is asked for, in a table: sizes of a mix, drawn before the clock starts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/memory/mapped_array.hpp"
#include "harness/random.hpp"
#include "workload/tape.hpp"

namespace heaps {

class request_sizes {
 public:
  request_sizes(const heapwise::bench::size_mix& mix, heapwise::bench::random_numbers& random)
      : sizes_{count} {
    const heapwise::bench::mapped_array<heapwise::bench::operation> memory{2 * count};
    const heapwise::bench::tape drawn =
        heapwise::bench::make_tape(memory.span(), mix, random.next());
    std::size_t next = 0;
    for (const heapwise::bench::operation each : drawn.operations) {
      if (!each.frees()) sizes_[next++] = each.bytes();
    }
    mean_bytes_ = static_cast<double>(drawn.requested_bytes) / count;
  }

  /// The size of the request with that number; they come again after a while.
  [[nodiscard]] std::size_t of(std::size_t number) const noexcept { return sizes_[number % count]; }
  [[nodiscard]] double mean_bytes() const noexcept { return mean_bytes_; }

 private:
  static constexpr std::size_t count = 1 << 16;

  heapwise::bench::mapped_array<std::uint32_t> sizes_;
  double mean_bytes_ = 0;
};

} // namespace heaps
