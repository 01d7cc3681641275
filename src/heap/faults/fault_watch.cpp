#include "heap/faults/fault_watch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/checks/span_guard.hpp"
#include "heap/checks/tags.hpp"
#include "heap/large/large_guard.hpp"
#include "heap/large/large_quarantine.hpp"
#include "heap/space/space.hpp"
#include "os/reports/faults.hpp"

namespace heapwise::detail {

namespace {

/// Effects: reports an access to a small block by an address with another tag.
[[maybe_unused]] void report_tag(const void* address) {
  if (!the_space.holds(address)) return;
  const size_class class_index =
      the_facts.map.class_around(reinterpret_cast<std::uintptr_t>(address))
          .load(std::memory_order_relaxed);
  if (class_index == no_class) return;
  const std::byte* const begin = the_space.begin_of(the_space.span_at(address));
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin);
  const std::byte* const block =
      begin + std::size_t{block_at(class_index, offset)} * class_table[class_index].bytes;
  const std::uint8_t state = the_space.granule_class(block).load(std::memory_order_relaxed);
  invalid_free(address,
               state == class_index ? invalid::touched_beyond : invalid::touched_when_free);
}

/// Effects: reports a fault in the guarded pages, behind a span or a large block, or in a block
/// that was freed. Other faults are not the heap's.
void on_fault(const void* touched) {
  const void* const address = without_tag(touched); // an emulator may not have stripped it
  if constexpr (chosen_profile.quarantines) {
    if (is_in_hidden_block(address)) invalid_free(address, invalid::touched_when_free);
  }
  if constexpr (chosen_profile.guards_spans) {
    if (is_behind_small(address)) invalid_free(address, invalid::touched_beyond);
  }
  if constexpr (tags_blocks) report_tag(address);
  if (is_behind_large(address)) invalid_free(address, invalid::touched_beyond);
  if (!the_guards.holds(address)) return;
  // Acquire: pairs with the releases in guarded_pages. The report reads what was written before.
  const bool freed =
      the_guards.around(address).state.load(std::memory_order_acquire) == guarded_block::freed;
  invalid_free(address, freed ? invalid::touched_when_free : invalid::touched_beyond);
}

} // namespace

void watch_faults() noexcept { os::watch_faults(on_fault); }

} // namespace heapwise::detail
