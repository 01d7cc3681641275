#include "heap/front/checked_paths.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "heap/base/invalid.hpp"
#include "heap/base/random_numbers.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/base/zeros.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/quarantine.hpp"
#include "heap/cache/thread_cache.hpp"
#include "heap/checks/block_states.hpp"
#include "heap/checks/call_sites.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/checks/tags.hpp"
#include "heap/front/lookup.hpp"
#include "heap/front/small_blocks.hpp"
#include "heap/front/uncommon.hpp"
#include "heap/space/space.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

__thread heap_cache* hidden_cache = stand_in(no_cache);

namespace {

// The paths of the profiles that check every call. What is rare is in functions that they end in,
// so that they need no stack of their own.

/// Effects: a block that nobody uses any more is held back, or goes into the stack.
HEAPWISE_ALWAYS_INLINE void keep(std::byte* block, size_class class_index) noexcept {
  heap_cache& cache = *cache_in_use();
  // Those that stand for no cache have room for nothing.
  if (cache.tops[class_index] == cache.ends[class_index]) [[unlikely]]
    return keep_slowly(block, class_index);
  std::uint64_t random = 0;
  if constexpr (chosen_profile.quarantines) {
    quarantine* const held = static_cast<thread_cache&>(cache).held_back;
    if (held == nullptr) [[unlikely]]
      return keep_slowly(block, class_index);
    random = random_bits();
    block =
        held->exchange(block, class_index, by_upper_half(random, quarantine::places(class_index)));
    if (block == nullptr) return;
  }
  push(cache, block, class_index, random);
}

/// Effects: the same, and the block is cleared before where free blocks are.
HEAPWISE_NOINLINE void clear_and_keep(std::byte* block, size_class class_index) noexcept {
  if constexpr (chosen_profile.clears) clear_and_untag(block, class_table[class_index].bytes);
  keep(block, class_index);
}

/// Effects: the same, and the call site is kept.
HEAPWISE_COLD void note_and_keep(std::byte* block, size_class class_index) noexcept {
  note_freed(block);
  clear_and_keep(block, class_index);
}

/// Returns: whether the address is in a span of small blocks, or the guarded pages; then it is a
/// block in use, or was reported.
bool is_small_block(const void* block, size_class class_index) noexcept {
  if (class_index == no_class) return false;
  const std::uint8_t state = the_space.granule_class(block).load(std::memory_order_relaxed);
  if (state != class_index) block_states::report_state(block, state);
  return true;
}

} // namespace

void* take_of_class(size_class class_index) noexcept {
  heap_cache& cache = *cache_in_use();
  if (cache.tops[class_index][-1] == nullptr) [[unlikely]]
    return sample_or_refill(class_index);
  return take_top(cache, class_index);
}

void give_checked(void* freed) noexcept {
  if (freed == nullptr) return;
  auto* const address = static_cast<std::byte*>(freed);
  std::byte* const block = without_tag(address);
  const size_class class_index = the_facts.map.class_at(block);
  if (class_index == no_class) [[unlikely]]
    return release_uncommon(block);
  block_states::free(address, class_index);
  if (the_facts.sites != nullptr) [[unlikely]]
    return note_and_keep(block, class_index);
  if constexpr (chosen_profile.clears) {
    const std::size_t bytes = class_table[class_index].bytes;
    if (tags_blocks || bytes > zeros::short_bytes) return clear_and_keep(block, class_index);
    zeros::clear_short(block, bytes);
  }
  keep(block, class_index);
}

void* take_zeroed(size_class class_index, std::size_t bytes) noexcept {
  // The block that `take_of_class` will take, if there is one: it verifies that all is zero.
  const std::byte* const next = cache_in_use()->tops[class_index][-1];
  const bool is_zero = next != nullptr && block_states::is_cleared(next);
  void* const block = take_of_class(class_index);
  return block == nullptr || is_zero ? block : std::memset(block, 0, bytes);
}

void* take_for_inlined(size_class class_index) noexcept {
  if constexpr (canary_bytes == 0) return take_of_class(class_index);
  const std::size_t bytes = class_table[class_index].bytes;
  const std::size_t alignment = class_alignment[class_index];
  if (!is_small(bytes)) return allocate_large(bytes, alignment, false);
  const std::size_t whole = bytes + canary_bytes;
  return take_of_class(static_cast<size_class>(aligned_class_of(whole, alignment)));
}

void expect_block(const void* address) noexcept {
  const void* const block = without_tag(address);
  if (block == nullptr || is_small_block(block, the_facts.map.class_at(block))) return;
  if (the_guards.holds(block)) {
    if (const auto fault = the_guards.fault_of(block)) end_by_fault(block, *fault);
    return;
  }
  const found what = look_up(block);
  if (what.use == slice_use::owned)
    static_cast<void>(is_small_block(block, what.record->class_index));
}

void expect_new_of(const void* address, std::size_t size_bytes, std::size_t alignment) noexcept {
  const void* const block = without_tag(address);
  if (block == nullptr) return;
  const size_class class_index = the_facts.map.class_at(block);
  if (!is_small_block(block, class_index)) return expect_size(block, size_bytes);
  const std::size_t whole = size_bytes + canary_bytes;
  const bool fits = size_bytes <= max_small_bytes && whole <= max_small_bytes &&
                    alignment <= max_small_bytes &&
                    aligned_class_of(whole, std::max(alignment, granule_bytes)) == class_index;
  if (!fits) end_by_fault(block, invalid::wrong_size);
}

void expect_size(const void* address, std::size_t size_bytes) noexcept {
  const void* const block = without_tag(address);
  if (block == nullptr) return;
  expect_block(block);
  const std::size_t bytes = measure(block).bytes;
  if (bytes == 0) return; // free reports it
  // A block that `realloc` made smaller, or one with a large alignment, may be much larger than its
  // request was.
  const bool fits = size_bytes <= bytes;
  if (!fits) end_by_fault(block, invalid::wrong_size);
}

bool start_checking() noexcept {
  the_facts.canary_secret = os::random_word();
  the_facts.link_secret = os::random_word();
  seed_random_numbers();
  return the_space.allow_mixing();
}

} // namespace heapwise::detail
