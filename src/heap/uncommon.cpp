#include "heap/uncommon.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "heap/clock.hpp"
#include "heap/expects.hpp"
#include "heap/general.hpp"
#include "heap/invalid.hpp"
#include "heap/large_stock.hpp"
#include "heap/last_resort.hpp"
#include "heap/mixed.hpp"
#include "heap/no_memory.hpp"
#include "heap/owned.hpp"
#include "heap/purge.hpp"
#include "heap/shards.hpp"
#include "heap/sharing.hpp"
#include "heap/space.hpp"
#include "heap/start.hpp"
#include "heapwise/detail/config.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

/// What the large blocks of a shard hold together: pages of 4 KiB, and the number of blocks in the
/// bits above, so that one instruction counts both. Only the sum over all shards is exact.
struct alignas(cache_line_bytes) large_sum {
  static constexpr unsigned page_shift = 12;
  static constexpr std::uint64_t one_block = std::uint64_t{1} << 40;

  std::atomic<std::uint64_t> both{0};
  [[no_unique_address]] line_mark<shared::large_figures> mark;

  void add(std::uint64_t more) noexcept {
    mark.written();
    both.fetch_add(more, std::memory_order_relaxed);
  }
};
constinit std::array<large_sum, most_shards> large_sums;

void count(const span& block, std::uint64_t blocks, std::size_t more_bytes) noexcept {
  // A negative number of bytes has its sign in the upper bits.
  const auto pages =
      static_cast<std::uint64_t>(static_cast<std::ptrdiff_t>(more_bytes) >> large_sum::page_shift);
  large_sums[block.shard.load(std::memory_order_relaxed)].add(blocks * large_sum::one_block +
                                                              pages);
}

/// Small blocks that are large ones already, because they grow.
constinit std::atomic<std::size_t> growing_blocks{0};

// A block that grows to this size gets slices of its own, in which it can grow at its place. If it
// shrinks to less, it is a block among others again.
constexpr std::size_t worth_growing_bytes = std::size_t{2} << 10;

/// This part of the heap may be slices of small blocks that grow. One such block there may always
/// be.
constexpr std::size_t growing_part = 64;

// Below this, copying is as fast as asking the system to move pages.
constexpr std::size_t worth_moving_bytes = std::size_t{1} << 20;

/// Room of fewer slices keeps its old pages: the block is about to grow into them.
constexpr std::size_t worth_purging_slices = 16;

/// A block that had to move gets this part of its size as room to grow.
constexpr std::size_t room_part = 2;

constexpr std::size_t slices_of(std::size_t bytes) noexcept {
  return (bytes + slice_bytes - 1) / slice_bytes;
}

bool too_large(std::size_t size_bytes) noexcept {
  return size_bytes > PTRDIFF_MAX - slice_bytes ||
         slices_of(size_bytes) * slice_bytes > the_space.reserved_bytes();
}

/// Effects: the block does not count among those that grow any more.
void stop_growing(span& block) noexcept {
  if (!block.grows) return;
  block.grows = false;
  growing_blocks.fetch_sub(1, std::memory_order_relaxed);
}

void set_bytes(span& block, std::size_t bytes) noexcept {
  expects(bytes <= block.slices * slice_bytes, "a block has no more bytes than slices");
  if (bytes != block.bytes) count(block, 0, bytes - block.bytes);
  block.bytes = bytes;
  if (bytes > max_small_bytes) stop_growing(block);
}

/// Returns: whether the heap is large enough for one more small block that has slices of its own.
bool may_grow_alone() noexcept {
  // Relaxed: to be wrong by a few blocks does no harm.
  const std::size_t bytes = growing_blocks.load(std::memory_order_relaxed) * slice_bytes;
  return bytes < std::max(slice_bytes, the_space.used_bytes() / growing_part);
}

/// Returns: whether freed blocks of this length may wait in a stock for the next request. With one
/// shard they may not: its stock would have one lock too, as the space has.
bool are_stocked(std::size_t slices) noexcept {
  return slices <= large_stock::most_slices && shard_count() > 1;
}

/// Returns: a large block with `room_slices` behind it that are its own but untouched, or nullptr.
span* make_large(std::size_t size_bytes, std::size_t alignment, std::size_t room_slices,
                 bool zeroed) noexcept {
  if (!start_heap() || too_large(size_bytes) || alignment > the_space.reserved_bytes()) {
    return nullptr;
  }
  size_bytes = std::max(size_bytes, std::size_t{1});
  const std::size_t slices = slices_of(size_bytes);
  const std::size_t shard = own_shard();
  bool clean = false;
  const auto take = [&] {
    return the_space.take(slices + room_slices, std::max(alignment / slice_bytes, std::size_t{1}),
                          clean);
  };
  const bool may_be_stocked = room_slices == 0 && alignment <= slice_bytes && are_stocked(slices);
  span* made = may_be_stocked ? the_large_stocks[shard].take(slices) : nullptr;
  const bool was_stocked = made != nullptr;
  if (!was_stocked) made = take();
  if (made == nullptr && room_slices == 0) { // with room, it was only a wish
    free_what_waits();
    made = take();
  }
  if (made == nullptr) return nullptr;
  std::byte* const begin = the_space.begin_of(*made);
  made->bytes = round_up(size_bytes, os::page_bytes());
  made->grows = false;
  made->touched_bytes = made->bytes;
  made->shard.store(static_cast<std::uint8_t>(shard), std::memory_order_relaxed);
  if (!clean && room_slices >= worth_purging_slices) {
    os::purge(begin + slices * slice_bytes, room_slices * slice_bytes);
  }
  if (was_stocked && zeroed) {
    std::memset(begin, 0, size_bytes); // the space does not know that it was written to
  } else if (!clean && zeroed) {
    the_space.zero(*made, size_bytes);
  }
  count(*made, 1, made->bytes);
  // Release: pairs with the acquire in look_up. The length was written before.
  made->use.store(slice_use::large, std::memory_order_release);
  purge_after_growth();
  return made;
}

/// Effects: the span does not hold a block any more. Returns: false if another thread came first.
bool close_large(span& block) noexcept {
  // Of two threads that free it at once, one comes second. Acquire and release: the figures of the
  // block are read after make_large has written them, and before another thread takes the slices.
  slice_use expected = slice_use::large;
  if (!block.use.compare_exchange_strong(expected, slice_use::none, std::memory_order_acq_rel)) {
    invalid_free(the_space.begin_of(block), invalid::freed_before);
    return false;
  }
  count(block, std::uint64_t{0} - 1, std::size_t{0} - block.bytes);
  block.bytes = 0;
  stop_growing(block);
  return true;
}

/// `clean`: its pages are gone already.
void release_large(span& block, bool clean) noexcept {
  if (!close_large(block)) return;
  const bool may_be_stocked = !clean && block.pieces == 0 && are_stocked(block.slices);
  const std::size_t shard = block.shard.load(std::memory_order_relaxed);
  if (!may_be_stocked || !the_large_stocks[shard].keep(block)) the_space.give(block, 0, clean);
  notice_free_memory();
}

/// Requires: the place of the block must not be used any more.
void retire_large(span& block) noexcept {
  if (close_large(block)) the_space.retire(block);
}

/// What an address that is no small block of all threads stands for.
struct found {
  span* record = nullptr;
  slice_use use = slice_use::none;
  invalid why = invalid::foreign; // if it is no block
};

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

/// Returns: the same block, longer or shorter at its place, or nullptr.
void* resize_in_place(span& block, std::size_t size_bytes) noexcept {
  const std::size_t slices = slices_of(size_bytes);
  const std::size_t bytes = round_up(size_bytes, os::page_bytes());
  if (slices > block.slices && !the_space.extend(block, slices)) return nullptr;
  set_bytes(block, bytes);
  block.touched_bytes = std::max(block.touched_bytes, bytes);
  // What it no longer needs goes back, but for the room of a block that grows.
  if (slices + slices / room_part < block.slices) {
    the_space.give(block, slices);
    block.touched_bytes = std::min(block.touched_bytes, slices * slice_bytes);
    notice_free_memory();
  }
  std::byte* const begin = the_space.begin_of(block);
  // The room need not be resident.
  const std::size_t unused_bytes = block.touched_bytes - bytes;
  if (unused_bytes >= worth_purging_slices * slice_bytes &&
      os::purge(begin + bytes, unused_bytes)) {
    block.touched_bytes = bytes;
  }
  return begin;
}

relocated copy_large(span& from, span& to) noexcept {
  std::memcpy(the_space.begin_of(to), the_space.begin_of(from), from.bytes);
  return relocated::copied;
}

/// Effects: tries to resize the block where it is. Requires: `make_large` has failed. Before it
/// failed, it may have freed the slices behind the block.
/// Returns: the block, or nullptr without memory.
void* resize_at_last(span& block, std::size_t size_bytes) noexcept {
  void* const same = resize_in_place(block, size_bytes);
  return same != nullptr ? same : no_memory();
}

void* move_large(span& block, std::size_t size_bytes) noexcept {
  const std::size_t slices = slices_of(size_bytes);
  span* made = make_large(size_bytes, slice_bytes, slices / room_part, false);
  // Where there is no room to grow, the block itself may still fit.
  if (made == nullptr) made = make_large(size_bytes, slice_bytes, 0, false);
  if (made == nullptr) return resize_at_last(block, size_bytes);
  const bool worth_moving = block.slices * slice_bytes >= worth_moving_bytes;
  relocated how = worth_moving ? the_space.relocate(block, *made) : copy_large(block, *made);
  if (how == relocated::target_lost) {
    retire_large(*made);
    made = make_large(size_bytes, slice_bytes, 0, false);
    if (made == nullptr) return resize_at_last(block, size_bytes);
    how = copy_large(block, *made);
  }
  if (how == relocated::source_lost) {
    retire_large(block);
  } else {
    release_large(block, how == relocated::moved);
  }
  return the_space.begin_of(*made);
}

/// Returns: a block of slices of its own for a small block that grows, or nullptr.
void* allocate_growing(std::size_t size_bytes) noexcept {
  if (size_bytes < worth_growing_bytes || size_bytes > max_small_bytes || !may_grow_alone()) {
    return nullptr;
  }
  span* const made = make_large(max_small_bytes, slice_bytes, 0, false);
  if (made == nullptr) return nullptr;
  set_bytes(*made, max_small_bytes); // also where pages are larger
  made->grows = true;
  growing_blocks.fetch_add(1, std::memory_order_relaxed);
  return the_space.begin_of(*made);
}

/// What is known of a block.
struct measured {
  std::size_t bytes = 0; // that it may use; 0 if the address is not a block
  found what;            // if it is no small block of all threads
};

/// Returns: the class of a small block of all threads, or no_class.
size_class small_class_of(const void* block) noexcept {
  const size_class of = the_heap_map.class_at(block);
  if (of != mixed_class) return of;
  // Acquire: pairs with the release in set_class. The classes of its blocks were written before.
  std::atomic_thread_fence(std::memory_order_acquire);
  return the_mixed_spans.class_of_block(block);
}

measured measure(const void* block) noexcept {
  const size_class of = small_class_of(block);
  if (of != no_class) return {.bytes = class_table[of].bytes, .what = {}};
  const found what = look_up(block);
  if (what.record == nullptr) return {.bytes = 0, .what = what};
  const bool is_small = what.use == slice_use::owned && what.record->of != no_class;
  return {.bytes = is_small ? class_table[what.record->of].bytes : what.record->bytes,
          .what = what};
}

/// Returns: whether the bytes stay in a block. A smaller one is not worth a copy until this one
/// wastes half of its bytes.
bool is_worth_keeping(std::size_t block_bytes, std::size_t size_bytes) noexcept {
  return size_bytes <= block_bytes && size_bytes > block_bytes / 2;
}

void* move_anywhere(void* block, const measured& known, std::size_t size_bytes) noexcept {
  void* to = nullptr;
  if (known.what.use == slice_use::owned) {
    to = allocate_owned(*known.what.record->owner, size_bytes, granule_bytes);
  } else {
    if (size_bytes > known.bytes) to = allocate_growing(size_bytes);
    if (to == nullptr) to = allocate(size_bytes);
  }
  if (to == nullptr) return nullptr;
  std::memcpy(to, block, std::min(known.bytes, size_bytes));
  deallocate(block);
  return to;
}

/// Effects: as resize, for blocks that do not stay where they are because of their class.
HEAPWISE_NOINLINE void* resize_otherwise(void* block, std::size_t size_bytes) noexcept {
  const measured known = measure(block);
  if (known.bytes == 0) {
    invalid_free(block, known.what.why);
    return nullptr;
  }
  const found& what = known.what;
  if (what.use == slice_use::large && size_bytes > std::min(known.bytes, max_small_bytes)) {
    if (too_large(size_bytes)) return no_memory();
    void* const same = resize_in_place(*what.record, size_bytes);
    return same != nullptr ? same : move_large(*what.record, size_bytes);
  }
  if (what.use == slice_use::large && what.record->grows && size_bytes >= worth_growing_bytes) {
    return block;
  }
  if (is_worth_keeping(known.bytes, size_bytes)) return block;
  return move_anywhere(block, known, size_bytes);
}

} // namespace

void* allocate_large(std::size_t size_bytes, std::size_t alignment, bool zeroed) noexcept {
  span* const made = make_large(size_bytes, alignment, 0, zeroed);
  return made == nullptr ? no_memory() : the_space.begin_of(*made);
}

void* allocate_oddly_aligned(std::size_t size_bytes, std::size_t alignment) noexcept {
  if (!std::has_single_bit(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return allocate_large(size_bytes, alignment, false);
}

void release_uncommon(void* block) noexcept {
  const found what = look_up(block);
  if (what.use == slice_use::large) {
    release_large(*what.record, false);
  } else if (what.use == slice_use::owned) {
    release_owned(block, *what.record);
  } else {
    invalid_free(block, what.why);
  }
}

std::size_t usable_bytes(const void* block) noexcept {
  const measured known = measure(block);
  if (known.bytes == 0) invalid_free(block, known.what.why);
  return known.bytes;
}

void* resize(void* block, std::size_t size_bytes) noexcept {
  const size_class of = small_class_of(block);
  if (of != no_class && (is_worth_keeping(class_table[of].bytes, size_bytes) ||
                         (size_bytes <= max_small_bytes && class_of(size_bytes) == of))) {
    return block;
  }
  return resize_otherwise(block, size_bytes);
}

large_figures count_large() noexcept {
  std::uint64_t sum = 0;
  for (const large_sum& each : large_sums) sum += each.both.load(std::memory_order_relaxed);
  return {.blocks = sum / large_sum::one_block,
          .bytes = sum % large_sum::one_block << large_sum::page_shift};
}

} // namespace heapwise::detail
