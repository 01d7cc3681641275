#include "heap/front/lookup.hpp"

#include <cstdint>

#include "heap/checks/guarded_pages.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heap/space/space.hpp"

namespace heapwise::detail {

found look_up(const void* block) noexcept {
  if (!the_space.holds(block)) return {};
  span* const record = the_space.record(the_space.slice_of(block));
  if (record == nullptr) return {.why = invalid::no_block};
  // Acquire: pairs with the release in make_large and owned_blocks::allocate.
  const slice_use use = record->use.load(std::memory_order_acquire);
  if (reinterpret_cast<std::uintptr_t>(block) % granule_bytes != 0) {
    return {.why = invalid::misaligned};
  }
  if (use == slice_use::owned) return {.record = record, .use = use};
  if (use == slice_use::inside) {
    // What an inner slice says may be of an earlier life.
    span* const first = the_space.find_span(block);
    // Acquire: as above, for the record of another slice.
    const bool owned = first->use.load(std::memory_order_acquire) == slice_use::owned &&
                       the_space.index_of(*record) - the_space.index_of(*first) < first->slices;
    return owned ? found{.record = first, .use = slice_use::owned}
                 : found{.why = invalid::no_block};
  }
  if (use != slice_use::large) return {.why = invalid::no_block};
  if (the_space.begin_of(*record) != block) return {.why = invalid::inside_block};
  return {.record = record, .use = use};
}

measured measure(const void* block) noexcept {
  const size_class class_index = small_class_of(block);
  if (class_index != no_class) {
    return {.bytes = class_table[class_index].bytes - canary_bytes, .what = {}};
  }
  if constexpr (chosen_profile.samples_guards) {
    if (the_guards.holds(block)) {
      const found what{.why = the_guards.fault_of(block).value_or(invalid::foreign)};
      return {
          .bytes = the_guards.bytes_of(block), .what = what, .owner = the_guards.owner_of(block)};
    }
  }
  if constexpr (can_sample) {
    if (the_samples.holds(block)) {
      const std::size_t bytes = the_samples.bytes_of(block);
      return {.bytes = bytes, .what = {.why = the_samples.fault_of(block)}};
    }
  }
  const found what = look_up(block);
  if (what.record == nullptr) return {.bytes = 0, .what = what};
  const bool is_owned = what.use == slice_use::owned;
  const bool is_small = is_owned && what.record->class_index != no_class;
  return {.bytes = is_small ? class_table[what.record->class_index].bytes - canary_bytes
                            : what.record->large.usable_bytes,
          .what = what,
          .owner = is_owned ? what.record->owner : nullptr};
}

} // namespace heapwise::detail
