#include "gc/mark/marking.hpp"

#include <cstdint>

#include "gc/checks/guards.hpp"
#include "gc/mark/marker.hpp"
#include "gc/state/blocks.hpp"
#include "gc/state/required.hpp"
#include "os/expects.hpp"

namespace heapwise::gc {

namespace {

/// What a marking function gets.
struct marking : heapwise_gc_marking {
  marker& self;
  found_block block; // whose addresses it names

  marking(marker& its_marker, const found_block& its_block) noexcept
      : heapwise_gc_marking{name_address}, self{its_marker}, block{its_block} {}

  static void name_address(const heapwise_gc_marking* base, const void* address) noexcept {
    const auto& its = *static_cast<const marking*>(base);
    const auto word = reinterpret_cast<std::uintptr_t>(address);
    // A block that is looked through is marked, except for one whose finalizer must not wait
    // for itself.
    if (word - reinterpret_cast<std::uintptr_t>(its.block.begin) < its.block.bytes) return;
    its.self.mark_address(word);
  }
};

} // namespace

void call_function(const layout& its, const void* block, marker& self) noexcept {
  expects_still_world();
  expects(its.function != nullptr, "the layout has a marking function");
  const marking now{self, block_around(block)};
  its.function(&now, block, usable_bytes(now.block), its.argument);
}

} // namespace heapwise::gc
