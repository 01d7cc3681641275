// Cache lines that point to each other in one ring: each load needs the one before it, so what a
// walk takes is what the loads take, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "harness/escape.hpp"
#include "harness/memory/mapped_array.hpp"
#include "sources/reported_caches.hpp"

namespace caches {

struct alignas(line_bytes) line {
  const line* next = nullptr;
  std::uint64_t value = 0;
};

/// Where each line lies in `memory`, in the order in which the ring visits them.
class ring_of_lines {
 public:
  /// `offsets` are different multiples of line_bytes; both must outlive the ring.
  ring_of_lines(std::byte* memory, std::span<const std::uint64_t> offsets)
      : memory_{memory}, offsets_{offsets} {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      ::new (memory + offsets[i]) line{place(i + 1), i};
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return offsets_.size(); }
  /// The line that a walk of `steps` from the first one ends at: computed, not walked.
  [[nodiscard]] const line* place(std::size_t steps) const noexcept {
    return reinterpret_cast<const line*>(memory_ + offsets_[steps % offsets_.size()]);
  }

 private:
  std::byte* memory_;
  std::span<const std::uint64_t> offsets_;
};

/// Not inlined, so that all subjects run the very same instructions.
[[gnu::noinline]] inline const line* walk(const line* at, std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) at = at->next;
  return at;
}

/// The loop of `walk` without its load.
[[gnu::noinline]] inline const line* walk_nowhere(const line* at, std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) asm volatile("" : "+r"(at));
  return at;
}

} // namespace caches
