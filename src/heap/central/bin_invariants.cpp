// What is always true of a bin while nobody holds its lock.
#include <cstddef>
#include <cstdint>

#include "heap/central/bin.hpp"
#include "heap/central/bin_change.hpp"
#include "heap/checks/span_guard.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

bool bin::is_plausible(size_class class_index) const noexcept {
  expects_held(lock_);
  const std::uint32_t blocks = blocks_of_span(class_index);
  const std::uint32_t stocked = stocked_.load(std::memory_order_relaxed);
  const bool spare_is_whole = spare_ == nullptr || spare_->small.free_blocks() == blocks;
  return stock_.is_empty() == (stocked == 0) && least_stocked_ <= stocked && spare_is_whole &&
         free_blocks() <= spans_ * blocks && (spare_ == nullptr || spans_ > 0);
}

bool bin::is_sound(size_class class_index) noexcept {
  const std::lock_guard hold{lock_};
  return is_sound_locked(class_index);
}

bool bin::is_sound_locked(size_class class_index) const noexcept {
  expects_held(lock_);
  const class_facts& facts = class_table[class_index];
  const std::uint32_t blocks = blocks_of_span(class_index);
  std::size_t spans = 0;
  std::size_t free_blocks_of_all = 0;
  bool spare_is_listed = false;
  const bool each_is_sound = lists_.all_of([&](const span& listed, std::uint8_t list) {
    ++spans;
    free_blocks_of_all += listed.small.free_blocks();
    spare_is_listed = spare_is_listed || &listed == spare_;
    return listed.use.load(std::memory_order_relaxed) == slice_use::small &&
           listed.class_index == class_index && listed.slices == facts.slices &&
           listed.small.fullness == list && list == span_lists::list_of(listed, blocks) &&
           listed.small.most_free == span_lists::most_free(list, blocks) &&
           listed.free_map.count(blocks) == listed.small.free_blocks();
  });
  std::size_t stocked = 0;
  stock_.each([&](const batch&) { ++stocked; });
  return each_is_sound && is_plausible(class_index) &&
         spans <= spans_ && // full ones are in no list
         free_blocks_of_all == free_blocks() && spare_is_listed == (spare_ != nullptr) &&
         stocked == stocked_.load(std::memory_order_relaxed);
}

} // namespace heapwise::detail
