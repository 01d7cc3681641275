#include "heap/front/uncommon.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "heap/base/invalid.hpp"
#include "heap/base/no_memory.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/checks/block_states.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heap/checks/tags.hpp"
#include "heap/front/checked_paths.hpp"
#include "heap/front/counting.hpp"
#include "heap/front/general.hpp"
#include "heap/front/lookup.hpp"
#include "heap/front/owned.hpp"
#include "heap/front/small_blocks.hpp"
#include "heap/large/large_blocks.hpp"
#include "heap/large/large_guard.hpp"
#include "heap/large/large_quarantine.hpp"
#include "heap/space/huge_pages.hpp"
#include "heap/space/space.hpp"
#include "heapwise/detail/config.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

// Below this, copying is as fast as asking the system to move pages.
constexpr std::size_t worth_moving_bytes = std::size_t{1} << 20;

/// A block that had to move gets this part of its size as room to grow.
constexpr std::size_t room_part = 2;

/// Returns: the same block, longer or shorter at its place, or nullptr.
void* resize_in_place(span& block, std::size_t size_bytes) noexcept {
  const std::size_t slices = slices_of(size_bytes + large_guard_bytes());
  const std::size_t bytes = round_up(size_bytes, os::page_bytes());
  if (bytes == block.large.usable_bytes)
    return the_space.begin_of(block); // the system need not be asked
  if (slices > block.slices && !the_space.extend(block, slices)) return nullptr;
  if (!lower_guard(block)) { // then it has the bytes that it has
    return bytes <= block.large.usable_bytes ? the_space.begin_of(block) : nullptr;
  }
  // The slices that it no longer needs go back, except for the room of a block that grows. This is
  // done first, since pages are hidden up to the end of the slices that are left.
  if (slices + slices / room_part < block.slices) {
    if constexpr (chosen_profile.clears) discard_behind(block, slices * slice_bytes);
    the_space.give(block, slices);
    block.large.touched_bytes = std::min(block.large.touched_bytes, slices * slice_bytes);
    notice_free_memory();
  }
  set_bytes(block, bytes);
  block.large.touched_bytes = std::max(block.large.touched_bytes, bytes);
  std::byte* const begin = the_space.begin_of(block);
  // The room need not be resident.
  const std::size_t unused_bytes = block.large.touched_bytes - bytes;
  if (unused_bytes >= worth_purging_slices * slice_bytes &&
      purge_slices(begin + bytes, unused_bytes)) {
    block.large.touched_bytes = bytes;
  }
  return begin;
}

relocated copy_large(span& from, span& to) noexcept {
  std::memcpy(the_space.begin_of(to), the_space.begin_of(from), from.large.usable_bytes);
  return relocated::copied;
}

/// Effects: tries to resize the block where it is. Requires: `make_large` has failed. Before it
/// failed, it may have freed the slices behind the block.
/// Returns: the block, or nullptr without memory.
void* resize_at_last(span& block, std::size_t size_bytes) noexcept {
  void* const same = resize_in_place(block, size_bytes);
  if (same != nullptr) return same;
  raise_guard(block); // it may have been lowered for a move
  return no_memory();
}

void* move_large(span& block, std::size_t size_bytes) noexcept {
  const std::size_t slices = slices_of(size_bytes);
  span* new_span = make_large(size_bytes, slice_bytes, slices / room_part, false);
  // Where there is no room to grow, the block itself may still fit.
  if (new_span == nullptr) new_span = make_large(size_bytes, slice_bytes, 0, false);
  if (new_span == nullptr) return resize_at_last(block, size_bytes);
  // Pages move without a hidden one, as one mapping.
  const bool worth_moving = block.slices * slice_bytes >= worth_moving_bytes && lower_guard(block);
  relocated how =
      worth_moving ? the_space.relocate(block, *new_span) : copy_large(block, *new_span);
  if (how == relocated::target_lost) {
    retire_large(*new_span);
    new_span = make_large(size_bytes, slice_bytes, 0, false);
    if (new_span == nullptr) return resize_at_last(block, size_bytes);
    how = copy_large(block, *new_span);
  }
  if (how == relocated::source_lost) {
    retire_large(block);
  } else {
    release_large(block, how == relocated::moved);
  }
  return the_space.begin_of(*new_span);
}

/// Returns: whether the bytes stay in a block. A smaller one is not worth a copy until this one
/// wastes half of its bytes.
bool is_worth_keeping(std::size_t block_bytes, std::size_t size_bytes) noexcept {
  return size_bytes <= block_bytes && size_bytes > block_bytes / 2;
}

/// Returns: the block itself where there is no memory for a smaller one: it is large enough, and a
/// program does not expect that it cannot shrink. `error`: errno before the smaller one was asked
/// for. Otherwise nullptr.
void* instead_of_smaller(void* block, std::size_t bytes, std::size_t size_bytes,
                         int error) noexcept {
  if (size_bytes > bytes) return nullptr;
  errno = error;
  return block;
}

/// Effects: as resize, to another place in the heap of all threads. `bytes`: of the block.
void* move_shared(void* block, std::size_t bytes, std::size_t size_bytes) noexcept {
  const int error = errno;
  span* const new_span = size_bytes > bytes ? make_growing(size_bytes) : nullptr;
  void* const to = new_span != nullptr ? the_space.begin_of(*new_span) : allocate(size_bytes);
  if (to == nullptr) return instead_of_smaller(block, bytes, size_bytes, error);
  std::memcpy(to, block, std::min(bytes, size_bytes));
  deallocate(block);
  return to;
}

/// Effects: as resize, to another place in the block's own heap.
void* move_owned(void* block, const measured& known, std::size_t size_bytes) noexcept {
  const int error = errno;
  void* const to = allocate_owned(*known.owner, size_bytes, granule_bytes);
  if (to == nullptr) return instead_of_smaller(block, known.bytes, size_bytes, error);
  std::memcpy(to, block, std::min(known.bytes, size_bytes));
  deallocate(block);
  return to;
}

/// Effects: as resize, for a large block.
HEAPWISE_NOINLINE void* resize_large(span& block, std::size_t size_bytes) noexcept {
  const std::size_t bytes = block.large.usable_bytes;
  std::byte* const begin = the_space.begin_of(block);
  if (size_bytes > std::min(bytes, max_small_bytes)) {
    if (too_large(size_bytes)) return no_memory();
    void* const same = resize_in_place(block, size_bytes);
    return same != nullptr ? same : move_large(block, size_bytes);
  }
  if ((block.large.grows && size_bytes >= worth_growing_bytes) ||
      is_worth_keeping(bytes, size_bytes)) {
    return begin;
  }
  return move_shared(begin, bytes, size_bytes);
}

/// Effects: as resize, for blocks that do not stay where they are because of their class.
HEAPWISE_NOINLINE void* resize_otherwise(void* block, std::size_t size_bytes) noexcept {
  const measured known = measure(without_tag(block));
  if (known.bytes == 0) {
    invalid_free(block, known.what.why);
    return nullptr;
  }
  if (known.what.use == slice_use::large) return resize_large(*known.what.record, size_bytes);
  if (is_worth_keeping(known.bytes, size_bytes)) return block;
  return known.owner != nullptr ? move_owned(block, known, size_bytes)
                                : move_shared(block, known.bytes, size_bytes);
}

/// Returns: the record of a large block, or nullptr where `measure` has to tell what it is.
span* large_block_at(const void* block) noexcept {
  if (!the_space.holds(block)) return nullptr;
  const slice_index slice = the_space.slice_of(block);
  span* const record = the_space.record(slice);
  // Acquire: as in look_up.
  const bool is_large =
      record != nullptr && record->use.load(std::memory_order_acquire) == slice_use::large;
  return is_large && the_space.address_of(slice) == block ? record : nullptr;
}

/// Effects: as resize, if the class does not say that the block stays where it is.
HEAPWISE_ALWAYS_INLINE void* resize_uncounted(void* block, std::size_t size_bytes,
                                              size_class class_index) noexcept {
  if (class_index != no_class) {
    return move_shared(block, usable_bytes_of(class_index), size_bytes);
  }
  span* const record = large_block_at(block);
  if (record == nullptr) return resize_otherwise(block, size_bytes);
  const bool fits = size_bytes <= record->large.usable_bytes;
  if (fits && record->large.grows && size_bytes >= worth_growing_bytes) return block;
  return resize_large(*record, size_bytes);
}

HEAPWISE_NOINLINE void* resize_counted(void* block, std::size_t size_bytes,
                                       size_class class_index) noexcept {
  return count_resized(block, [=] { return resize_uncounted(block, size_bytes, class_index); });
}

HEAPWISE_NOINLINE void* resize_by_class(void* block, std::size_t size_bytes,
                                        size_class class_index) noexcept {
  if (thread_counts_blocks()) [[unlikely]]
    return resize_counted(block, size_bytes, class_index);
  return resize_uncounted(block, size_bytes, class_index);
}

} // namespace

void* allocate_large(std::size_t size_bytes, std::size_t alignment, bool zeroed) noexcept {
  expects(std::has_single_bit(alignment), "an alignment is a power of two");
  span* const new_span = make_large(size_bytes, alignment, 0, zeroed);
  if (new_span == nullptr) return no_memory();
  if (thread_counts_blocks()) count_block(new_span->large.usable_bytes);
  return the_space.begin_of(*new_span);
}

void* allocate_oddly_aligned(std::size_t size_bytes, std::size_t alignment) noexcept {
  if (!std::has_single_bit(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return allocate_large(size_bytes, alignment, false);
}

void release_uncommon(void* block) noexcept {
  if (thread_counts_blocks()) [[unlikely]]
    count_uncommon_free(block);
  if constexpr (chosen_profile.samples_guards) {
    if (the_guards.release(static_cast<std::byte*>(block))) return;
  }
  if constexpr (can_sample) {
    if (the_samples.holds(block)) return keep_sampled(static_cast<std::byte*>(block));
  }
  const found what = look_up(block);
  if constexpr (chosen_profile.keeps_states) {
    // A large block is gone for good when it is freed, so an address that was one is remembered.
    if (what.use == slice_use::large) {
      the_space.granule_class(block).store(block_states::freed, std::memory_order_relaxed);
    } else if (what.why == invalid::no_block && the_space.record(the_space.slice_of(block)) &&
               the_space.granule_class(block).load(std::memory_order_relaxed) ==
                   block_states::freed) {
      return invalid_free(block, invalid::freed_before);
    }
  }
  if (what.use == slice_use::large) {
    release_large(*what.record, false);
  } else if (what.use == slice_use::owned) {
    release_owned(block, *what.record);
  } else {
    invalid_free(block, what.why);
  }
}

std::size_t usable_bytes(const void* block) noexcept {
  if constexpr (chosen_profile.keeps_states) expect_block(block);
  const measured known = measure(without_tag(block));
  if (known.bytes == 0) invalid_free(block, known.what.why);
  return known.bytes;
}

std::size_t grow_in_place(void* block, std::size_t size_bytes) noexcept {
  expects(block != nullptr, "there is a block that may grow");
  const std::size_t before = usable_bytes(block);
  if (before == 0 || size_bytes <= before || too_large(size_bytes)) return before;
  const found what = look_up(without_tag(block));
  if (what.use != slice_use::large || resize_in_place(*what.record, size_bytes) == nullptr) {
    return before;
  }
  const std::size_t now = what.record->large.usable_bytes;
  if (thread_counts_blocks() && now != before) {
    count_free(before);
    count_block(now);
  }
  return now;
}

void* resize(void* block, std::size_t size_bytes) noexcept {
  expects(block != nullptr && size_bytes != 0, "a block gets a size above 0");
  if constexpr (chosen_profile.keeps_states) expect_block(block);
  const size_class class_index = small_class_of(without_tag(block));
  if (class_index != no_class && (is_worth_keeping(usable_bytes_of(class_index), size_bytes) ||
                                  (is_small(size_bytes) && class_for(size_bytes) == class_index))) {
    return block;
  }
  return resize_by_class(block, size_bytes, class_index);
}

} // namespace heapwise::detail
