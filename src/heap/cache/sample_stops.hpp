// Where a stack of free blocks stops, since the next block is to be sampled.
//
// The fast path of `malloc` takes what is on top of a stack, and leaves it to the slow path if that
// is nullptr. So a stop is a place in the stack with a nullptr, and the block that belongs there is
// kept here. Each block that comes into a stack is at a stop by the chance that is due to its
// bytes; a block that was sampled comes back at one. So at each moment each block in use is sampled
// by its chance, from whichever call it comes and how often its place was used before, and no
// instruction counts bytes. Whatever looks at a stack otherwise lifts its stops first, and draws
// them again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "heap/cache/thread_cache.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// The stops of a thread's cache. Thread safety: used by its thread only.
class sample_stops {
 public:
  /// Returns: whether the block on top of the stack is at a stop.
  [[nodiscard]] bool is_on_top(const heap_cache& cache, size_class class_index) const noexcept {
    const std::uint16_t first = tops_[class_index];
    return first != 0 && stops_[first].place == cache.tops[class_index] - 1;
  }

  /// Effects: takes the block at the stop on top. Requires: is_on_top.
  [[nodiscard]] std::byte* take(heap_cache& cache, size_class class_index) noexcept;

  /// Effects: the block is on top of the stack, at a stop. Requires: there is room in the stack.
  void push(heap_cache& cache, size_class class_index, std::byte* block) noexcept;

  /// Effects: the stack has no stop any more.
  void lift(size_class class_index) noexcept;

  /// Effects: some blocks of the stack are at stops. Requires: none is.
  void draw(heap_cache& cache, size_class class_index) noexcept;

 private:
  struct stop {
    std::byte** place;
    std::byte* block;
    std::uint16_t below; // the next lower one of the class, or in the list of unused ones; 0: none
  };

  /// Effects: the place becomes a stop, the topmost one. Does nothing if no more are kept.
  void place_at(std::byte** place, std::byte* block, size_class class_index) noexcept;

  [[nodiscard]] stop drop_top(size_class class_index) noexcept;

  static constexpr std::size_t most = 640;

  bool has_begun_ = false;
  std::uint16_t used_ = 0; // of the places below; the one with number 0 is not used
  std::uint16_t unused_ = 0;
  std::uint64_t bytes_left_ = 0; // that are not sampled before the next one is
  std::array<std::uint16_t, class_slots> tops_{};
  std::array<stop, most + 1> stops_{};
};

/// Returns: the stops of a cache, made and drawn if need be; nullptr without memory, and if nothing
/// is sampled.
[[nodiscard]] sample_stops* stops_of(heap_cache& cache) noexcept;

/// Effects: the stack of the class has no stop any more.
inline void lift_stops(heap_cache& cache, size_class class_index) noexcept {
  if (sample_stops* const stops = static_cast<thread_cache&>(cache).stops) stops->lift(class_index);
}

/// Effects: the cache has no stops, and no memory for them. Called when its thread ends.
void end_stops(heap_cache& cache) noexcept;

} // namespace heapwise::detail
