// In the profile `hardened` the last page of each span of small blocks has no access: what runs
// over the end of the last block, or over the begin of a block behind the span, faults.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "heap/base/profile.hpp"
#include "heap/space/space.hpp"
#include "heap/space/span.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// What no block of a span reaches into. Where pages are larger, they cannot be hidden.
inline constexpr std::size_t span_guard_bytes = chosen_profile.guards_spans ? 4096 : 0;

inline constexpr std::array<std::uint32_t, class_slots> blocks_before_guard = [] {
  std::array<std::uint32_t, class_slots> table{};
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    const std::size_t bytes = class_table[class_index].slices * slice_bytes - span_guard_bytes;
    table[class_index] = static_cast<std::uint32_t>(bytes / class_table[class_index].bytes);
  }
  return table;
}();

/// Returns: the blocks of a span that its bin hands out.
constexpr std::uint32_t blocks_of_span(size_class class_index) noexcept {
  return chosen_profile.guards_spans ? blocks_before_guard[class_index]
                                     : class_table[class_index].blocks;
}

/// Effects: hides the last page of a new span, if the system agrees.
void hide_end(span& hidden) noexcept;

/// Effects: the same if the profile guards spans, else none.
inline void guard_end(span& new_span) noexcept {
  if constexpr (chosen_profile.guards_spans) hide_end(new_span);
}

/// Effects: gives a span to the space, with its last page like any other. If the system refuses
/// that, its slices stay out of use. Requires: the span is in no bin any more.
void give_with_end(span& empty) noexcept;

/// Effects: as space::give, for a span of small blocks.
inline void give_small_span(span& empty) noexcept {
  if constexpr (chosen_profile.guards_spans) return give_with_end(empty);
  the_space.give(empty);
}

/// Returns: whether the address is in the hidden page of a span. Safe in a handler of a signal.
[[nodiscard]] bool is_behind_small(const void* address) noexcept;

/// How many spans of small blocks have a hidden page, and how many have none.
struct span_guard_figures {
  std::size_t hidden = 0;
  std::size_t missing = 0;
};
[[nodiscard]] span_guard_figures count_span_guards() noexcept;

} // namespace heapwise::detail
