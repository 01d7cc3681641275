#include "heap/checked_paths.hpp"

#include <algorithm>
#include <atomic>

#include "heap/block_states.hpp"
#include "heap/guarded_pages.hpp"
#include "heap/invalid.hpp"
#include "heap/lookup.hpp"
#include "heap/owned_links.hpp"
#include "heap/random_numbers.hpp"
#include "heap/sealed_facts.hpp"
#include "heap/space.hpp"
#include "heap/tags.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

/// Returns: whether the address is in a span of small blocks, or the guarded pages; then it is a
/// block in use, or was reported.
bool is_small_block(const void* block, size_class class_index) noexcept {
  if (class_index == no_class) return false;
  const std::uint8_t state = the_space.granule_class(block).load(std::memory_order_relaxed);
  if (state != class_index) block_states::report_state(block, state);
  return true;
}

} // namespace

void expect_block(const void* address) noexcept {
  const void* const block = without_tag(address);
  if (block == nullptr || is_small_block(block, the_facts.map.class_at(block))) return;
  if (the_guards.holds(block)) return the_guards.expect_block(block);
  const found what = look_up(block);
  if (what.use == slice_use::owned)
    static_cast<void>(is_small_block(block, what.record->class_index));
}

void expect_new_of(const void* address, std::size_t size_bytes, std::size_t alignment) noexcept {
  const void* const block = without_tag(address);
  if (block == nullptr) return;
  const size_class class_index = the_facts.map.class_at(block);
  if (!is_small_block(block, class_index)) return expect_size(block, size_bytes);
  const std::size_t whole = size_bytes + chosen_profile::canary_bytes;
  const bool fits = size_bytes <= max_small_bytes && whole <= max_small_bytes &&
                    alignment <= max_small_bytes &&
                    aligned_class_of(whole, std::max(alignment, granule_bytes)) == class_index;
  if (!fits) invalid_free(block, invalid::wrong_size);
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
  if (!fits) invalid_free(block, invalid::wrong_size);
}

bool start_checking() noexcept {
  the_facts.canary_secret = os::random_word();
  the_facts.link_secret = os::random_word();
  seed_random_numbers();
  return the_space.allow_mixing();
}

} // namespace heapwise::detail
