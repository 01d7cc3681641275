// The cache of a thread with the short stacks that its classes begin with.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "heap/cache/spare_batch.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

class quarantine;
class sample_stops;

namespace short_stacks {

/// Returns: how many blocks the short stack of a class may hold. Larger blocks have fewer.
constexpr std::size_t most_places(size_class class_index) noexcept {
  constexpr std::size_t most_places_of_all = 6;
  constexpr std::size_t most_waiting_bytes = 2048;
  const class_facts& facts = class_table[class_index];
  return std::clamp(most_waiting_bytes / facts.bytes, std::size_t{1},
                    std::min<std::size_t>(most_places_of_all, facts.batch));
}

/// Returns: how often a class with a short stack may need its bin. More often for larger blocks:
/// each of them that waits costs memory, and its user has more to do with it.
constexpr std::size_t most_bin_calls(size_class class_index) noexcept {
  constexpr std::size_t calls_of_all = 16;
  constexpr std::size_t bytes_for_a_call = 256;
  constexpr std::size_t most_of_bytes = 32;
  return calls_of_all + std::min(most_of_bytes, class_table[class_index].bytes / bytes_for_a_call);
}

/// Where the stack of each class begins: behind its bottom, which stays nullptr.
inline constexpr std::array<std::uint16_t, class_slots> begins = [] {
  std::array<std::uint16_t, class_slots> table{};
  std::size_t end = 0;
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    table[class_index] = static_cast<std::uint16_t>(end + 1);
    end += 1 + most_places(class_index);
  }
  table[mixed_class] = static_cast<std::uint16_t>(end); // has none
  return table;
}();
inline constexpr std::size_t all_places = begins[mixed_class];

} // namespace short_stacks

namespace first_batches {

/// Returns: how many places of its first batch a class uses at first. Batches of small blocks hold
/// less than this, and are used whole.
constexpr std::uint32_t places(size_class class_index) noexcept {
  constexpr std::size_t most_waiting_bytes = std::size_t{8} << 10;
  const class_facts& facts = class_table[class_index];
  if (facts.bytes == 0) return facts.batch; // of mixed spans
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(most_waiting_bytes / facts.bytes, min_batch, facts.batch));
}

/// Returns: how many calls of its bin a class has made when it begins to use its batch whole,
/// those with the short stack included.
constexpr std::size_t last_bin_call(size_class class_index) noexcept {
  constexpr std::size_t calls = 128;
  return short_stacks::most_bin_calls(class_index) + calls;
}

} // namespace first_batches

/// The bytes of blocks for which the batches of all threads of a shard may have room before a
/// thread has to ask often for more. The threads that can run at once need less.
inline constexpr std::size_t usual_room = std::size_t{32} << 20;

/// The cache of a thread, with a short stack for each class in the same page. A class begins with
/// that one, and gets a batch when it has needed its bin a few times. It uses 8 KiB of blocks of
/// that batch until it has needed its bin a few times more. So a thread that does little has one
/// page of addresses, and few free blocks.
struct thread_cache : heap_cache {
  static constexpr std::uint8_t grown = 0xff;      // uses a batch whole
  static constexpr std::uint8_t just_grown = 0xfe; // and the bin has not filled it yet

  std::uint8_t bin_calls[class_slots]{}; // since there is a short stack; or one of these
  std::byte* places[short_stacks::all_places]{};
  spare_batch spares[class_slots]{};
  quarantine* held_back = nullptr; // or nullptr; only where the profile has one
  sample_stops* stops = nullptr;   // or nullptr; only if blocks are sampled
  std::uint8_t shard = 0;          // whose bins it uses as long as it has a thread
  std::uint16_t refusals = 0;      // of more room, in a crowd
  thread_cache* next = nullptr;    // of those with a thread, or of those that were emptied
  thread_cache* previous = nullptr;

  [[nodiscard]] std::byte** short_stack(size_class class_index) noexcept {
    return places + short_stacks::begins[class_index];
  }
};
static_assert(sizeof(thread_cache) <= 4096);
static_assert(first_batches::last_bin_call(class_count) < thread_cache::just_grown);

} // namespace heapwise::detail
