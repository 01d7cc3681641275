#include "heap/cache/cache_stacks.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "heap/base/profile.hpp"
#include "heap/base/random_numbers.hpp"
#include "heap/base/shards.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/quarantine.hpp"
#include "heap/cache/sample_stops.hpp"
#include "heap/central/batches.hpp"
#include "heap/central/bins.hpp"
#include "heap/central/mixed.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

namespace {

thread_cache& all_of(heap_cache& cache) noexcept { return static_cast<thread_cache&>(cache); }

std::size_t shard_of(heap_cache& cache) noexcept { return all_of(cache).shard; }

/// This many fresh blocks that lie side by side are handed out in a random order, before the next
/// ones are. A program whose data lie far from what it made before and after waits for memory: a
/// loop over 50,000 strings took 2.3 times as long with whole stacks shuffled, 1.2 times with
/// groups of 8. Only the profile for programs that are attacked pays that.
constexpr std::size_t shuffled_group = chosen_profile.clears ? SIZE_MAX : 8;

std::size_t batch_bytes_of(size_class class_index) noexcept {
  return std::size_t{class_table[class_index].batch} * class_table[class_index].bytes;
}

/// Requires: there is one.
batch* batch_of(heap_cache& cache, size_class class_index) noexcept {
  expects(has_batch(cache, class_index), "the stack of the class is a batch");
  return reinterpret_cast<batch*>(begin_of_stack(cache, class_index)) - 1;
}

/// Returns: the batch in use. Requires: the class uses it whole.
batch* whole_batch_of(heap_cache& cache, size_class class_index) noexcept {
  expects(has_whole_batch(cache, class_index), "the class uses its batch whole");
  return reinterpret_cast<batch*>(cache.ends[class_index] - class_table[class_index].batch) - 1;
}

void load(heap_cache& cache, size_class class_index, batch* loaded, std::uint32_t blocks,
          std::uint32_t places) noexcept {
  cache.tops[class_index] = loaded->blocks() + blocks;
  cache.ends[class_index] = loaded->blocks() + places;
}

void load_whole(heap_cache& cache, size_class class_index, batch* loaded,
                std::uint32_t blocks) noexcept {
  load(cache, class_index, loaded, blocks, class_table[class_index].batch);
}

std::size_t height_of_stack(heap_cache& cache, size_class class_index) noexcept {
  return static_cast<std::size_t>(cache.tops[class_index] - begin_of_stack(cache, class_index));
}

spare_batch& spare_of(heap_cache& cache, size_class class_index) noexcept {
  return all_of(cache).spares[class_index];
}

/// Effects: a batch that was the spare one is in use, and the other way round. Requires: the batch
/// in use is as full as the spare one is empty, or the other way round; the place for a spare one
/// is free.
void change_batches(heap_cache& cache, size_class class_index,
                    spare_batch::content spare) noexcept {
  expects(spare.held != nullptr, "there is a spare batch to change to");
  spare_of(cache, class_index)
      .put({.held = whole_batch_of(cache, class_index), .is_full = !spare.is_full});
  load_whole(cache, class_index, spare.held, spare.is_full ? class_table[class_index].batch : 0);
}

/// Effects: exchanges an empty batch in use for the spare one, if that is full. Returns: whether it
/// did.
bool use_full_spare(heap_cache& cache, size_class class_index) noexcept {
  spare_batch& place = spare_of(cache, class_index);
  if (!place.is_full()) return false;
  batch* const spare = place.take().held;
  if (spare == nullptr) return false; // the clock was quicker
  change_batches(cache, class_index, {.held = spare, .is_full = true});
  return true;
}

/// The bytes of the blocks for which all spare batches have room.
alignas(cache_line_bytes) constinit std::atomic<std::size_t> room_of_spares{0};

/// Returns: an empty batch that the class did not have before, or nullptr.
HEAPWISE_NOINLINE batch* make_spare(size_class class_index, std::size_t shard) noexcept {
  batch* const fresh_batch = new_batch(class_index, shard);
  if (fresh_batch != nullptr) {
    room_of_spares.fetch_add(batch_bytes_of(class_index), std::memory_order_relaxed);
  }
  return fresh_batch;
}

/// What `room_in_caches` returns. Relaxed: if it is too old by a few rooms, that does no harm.
alignas(cache_line_bytes) constinit std::atomic<std::size_t> room_of_all{0};

/// Returns: the bytes of the blocks for which the batch in use has room; 0 if there is none.
std::size_t room_of(heap_cache& cache, size_class class_index) noexcept {
  if (!has_batch(cache, class_index)) return 0;
  return has_whole_batch(cache, class_index)
             ? batch_bytes_of(class_index)
             : std::size_t{first_batches::places(class_index)} * class_table[class_index].bytes;
}

/// While it lives, the room of one class may change.
class room_change {
 public:
  room_change(heap_cache& cache, size_class class_index) noexcept
      : cache_(cache), class_index_(class_index), before_(room_of(cache, class_index)) {}
  room_change(const room_change&) = delete;
  room_change& operator=(const room_change&) = delete;
  ~room_change() {
    room_of_all.fetch_add(room_of(cache_, class_index_) - before_, std::memory_order_relaxed);
  }

 private:
  heap_cache& cache_;
  size_class class_index_;
  std::size_t before_;
};

/// Returns: whether a class that has earned more room gets it. Threads that run at once have room
/// enough together. Thousands of threads that wait would keep more than the program uses, so from
/// some room on only those get more that ask often. Effects: counts a refusal.
bool may_have_more_room(heap_cache& cache) noexcept {
  constexpr std::uint16_t most_refusals = 1024;
  if (room_in_caches() <= usual_room * possible_shards()) return true;
  std::uint16_t& refusals = all_of(cache).refusals;
  if (++refusals < most_refusals) return false;
  refusals = 0;
  return true;
}

/// Effects: from now on the class has a batch, with the blocks of its short stack. It uses a part
/// of it unless the batch is small. Returns: whether there was memory.
bool begin_batch(heap_cache& cache, size_class class_index) noexcept {
  batch* const fresh_batch = new_batch(class_index, shard_of(cache));
  if (fresh_batch == nullptr) return false;
  const std::size_t blocks =
      has_stack(cache, class_index) ? height_of_stack(cache, class_index) : 0;
  std::copy_n(all_of(cache).short_stack(class_index), blocks, fresh_batch->blocks());
  const bool uses_part = first_batches::places(class_index) < class_table[class_index].batch;
  all_of(cache).bin_calls[class_index] =
      uses_part ? static_cast<std::uint8_t>(short_stacks::most_bin_calls(class_index) + 1)
                : thread_cache::just_grown;
  load(cache, class_index, fresh_batch, static_cast<std::uint32_t>(blocks),
       first_batches::places(class_index));
  return true;
}

/// Effects: from now on the class uses its batch whole. Requires: it uses a part.
void use_whole_batch(heap_cache& cache, size_class class_index) noexcept {
  cache.ends[class_index] = begin_of_stack(cache, class_index) + class_table[class_index].batch;
  all_of(cache).bin_calls[class_index] = thread_cache::just_grown;
}

/// Effects: counts a call of the bin. The short stack has one place more; or the class has a batch
/// from now on, or uses its batch whole. Requires: it does not yet.
void count_bin_call(heap_cache& cache, size_class class_index) noexcept {
  expects(!has_whole_batch(cache, class_index), "calls are counted until a batch is used whole");
  std::uint8_t& calls = all_of(cache).bin_calls[class_index];
  if (calls == short_stacks::most_bin_calls(class_index)) {
    if (!may_have_more_room(cache)) return;
    const room_change counted{cache, class_index};
    static_cast<void>(begin_batch(cache, class_index)); // without memory all remains as it is
    return;
  }
  if (calls == first_batches::last_bin_call(class_index)) {
    if (!may_have_more_room(cache)) return;
    const room_change counted{cache, class_index};
    return use_whole_batch(cache, class_index);
  }
  ++calls;
  if (has_batch(cache, class_index)) return;
  cache.ends[class_index] = all_of(cache).short_stack(class_index) +
                            std::min<std::size_t>(calls, short_stacks::most_places(class_index));
}

/// Effects: fills the short stack, the lowest block on top. Requires: it is empty.
/// Returns: whether there was memory for a block.
bool fill_short(heap_cache& cache, size_class class_index) noexcept {
  std::byte** const begin = begin_of_stack(cache, class_index);
  std::byte**& top = cache.tops[class_index];
  expects(top == begin, "a short stack that is filled is empty");
  while (top != cache.ends[class_index]) {
    auto* const block = static_cast<std::byte*>(take_one_block(shard_of(cache), class_index));
    if (block == nullptr) break;
    *top++ = block;
  }
  std::reverse(begin, top);
  return top != begin;
}

/// Effects: fills half of the part of a batch that the class uses. If a whole batch waited for
/// another thread, the class uses that one. Requires: the part is empty. Returns: whether there was
/// memory for a block.
bool fill_part(heap_cache& cache, size_class class_index) noexcept {
  batch* used = batch_of(cache, class_index);
  const std::uint32_t places = first_batches::places(class_index);
  const std::uint32_t blocks = refill_batch(shard_of(cache), used, class_index, (places + 1) / 2);
  const bool is_whole = blocks > places;
  if (is_whole) {
    const room_change counted{cache, class_index};
    all_of(cache).bin_calls[class_index] = thread_cache::grown;
  }
  load(cache, class_index, used, blocks, is_whole ? class_table[class_index].batch : places);
  return blocks > 0;
}

/// Effects: makes room in a stack that is not a whole batch. Half of its blocks, those that were
/// freed first, go back to their spans. Requires: it is full.
void make_room_short(heap_cache& cache, size_class class_index) noexcept {
  std::byte** const begin = begin_of_stack(cache, class_index);
  const std::size_t blocks = height_of_stack(cache, class_index);
  const std::size_t oldest = (blocks + 1) / 2;
  put_back(begin, oldest, class_index);
  std::copy(begin + oldest, begin + blocks, begin);
  cache.tops[class_index] = begin + (blocks - oldest);
}

/// As `fill`, for a stack that is not a whole batch until now. Not inlined: `fill` then saves fewer
/// registers.
HEAPWISE_NOINLINE bool fill_less_than_batch(heap_cache& cache, size_class class_index) noexcept {
  count_bin_call(cache, class_index);
  if (!has_batch(cache, class_index)) return fill_short(cache, class_index);
  if (!has_whole_batch(cache, class_index)) return fill_part(cache, class_index);
  return fill(cache, class_index);
}

/// Effects: makes room in a stack that is not a whole batch, by a larger stack or by fewer blocks.
/// Requires: it is full. Returns: whether blocks leave the cache.
HEAPWISE_NOINLINE bool make_room_in_part(heap_cache& cache, size_class class_index) noexcept {
  count_bin_call(cache, class_index);
  if (has_batch(cache, class_index) && cache.tops[class_index] != cache.ends[class_index]) {
    return false;
  }
  make_room_short(cache, class_index);
  return true;
}

/// Effects: makes room in the batch in use. Requires: it is full. Returns: whether blocks leave the
/// cache.
bool make_room_in_batch(heap_cache& cache, size_class class_index) noexcept {
  expects(cache.tops[class_index] == cache.ends[class_index], "the batch in use is full");
  spare_batch::content spare = spare_of(cache, class_index).take();
  if (spare.held == nullptr && class_index != mixed_class) {
    spare.held = make_spare(class_index, shard_of(cache));
  }
  if (spare.held == nullptr) {
    std::byte** const begin = whole_batch_of(cache, class_index)->blocks();
    put_back(begin, class_table[class_index].batch, class_index);
    cache.tops[class_index] = begin;
    return true;
  }
  // The spare one has the blocks that were freed first.
  const bool flushes = std::exchange(spare.is_full, false);
  if (flushes) flush_batch(shard_of(cache), spare.held, class_index);
  change_batches(cache, class_index, spare);
  return flushes;
}

void empty(heap_cache& cache, size_class class_index) noexcept {
  if constexpr (can_sample) lift_stops(cache, class_index);
  if constexpr (chosen_profile.quarantines) release_held(cache, class_index);
  if (std::byte* const hot = std::exchange(cache.hot[class_index], nullptr))
    put_back(&hot, 1, class_index);
  if (has_stack(cache, class_index)) {
    const room_change counted{cache, class_index};
    put_back(begin_of_stack(cache, class_index), height_of_stack(cache, class_index), class_index);
    if (has_batch(cache, class_index)) delete_batch(batch_of(cache, class_index), class_index);
    cache.tops[class_index] = cache.ends[class_index] = no_room;
    all_of(cache).bin_calls[class_index] = 0;
  }
  release_spare(spare_of(cache, class_index).take(), class_index);
}

} // namespace

void release_spare(spare_batch::content spare, size_class class_index) noexcept {
  if (spare.held == nullptr) return;
  if (spare.is_full) put_back(spare.held->blocks(), class_table[class_index].batch, class_index);
  delete_batch(spare.held, class_index);
  room_of_spares.fetch_sub(batch_bytes_of(class_index), std::memory_order_relaxed);
}

std::size_t room_in_caches() noexcept { return room_of_all.load(std::memory_order_relaxed); }

void forget_room_in_caches() noexcept { room_of_all.store(0, std::memory_order_relaxed); }

void count_room_again(heap_cache& cache) noexcept {
  std::size_t room = 0;
  for (size_class each = 1; each <= mixed_class; ++each) room += room_of(cache, each);
  room_of_all.fetch_add(room, std::memory_order_relaxed);
}

std::size_t spare_bytes() noexcept { return room_of_spares.load(std::memory_order_relaxed); }

void put_back(std::byte* const* blocks, std::size_t count, size_class class_index) noexcept {
  if (class_index == mixed_class) {
    the_mixed_spans.put_back({blocks, count});
  } else {
    put_back_blocks(blocks, count, class_index);
  }
}

bool make_stack(heap_cache& cache, size_class class_index) noexcept {
  expects(!has_stack(cache, class_index), "a class has one stack");
  if (class_index == mixed_class) return begin_batch(cache, class_index);
  cache.tops[class_index] = cache.ends[class_index] = all_of(cache).short_stack(class_index);
  return true;
}

bool fill(heap_cache& cache, size_class class_index) noexcept {
  expects(has_stack(cache, class_index) && cache.tops[class_index][-1] == nullptr,
          "a stack that is filled has no block");
  if (!has_whole_batch(cache, class_index)) [[unlikely]]
    return fill_less_than_batch(cache, class_index);
  if (use_full_spare(cache, class_index)) return true;
  batch* used = whole_batch_of(cache, class_index);
  // Half of the first one, so that a few blocks that come and go from now on find both room and
  // blocks in this batch. From a full one they would go to and fro between two.
  const bool is_first = std::exchange(all_of(cache).bin_calls[class_index], thread_cache::grown) ==
                        thread_cache::just_grown;
  const std::uint32_t whole = class_table[class_index].batch;
  const std::uint32_t blocks =
      refill_batch(shard_of(cache), used, class_index, is_first ? (whole + 1) / 2 : whole);
  load_whole(cache, class_index, used, blocks);
  return blocks > 0;
}

void shuffle(heap_cache& cache, size_class class_index) noexcept {
  expects(has_stack(cache, class_index), "there is a stack to shuffle");
  std::byte** const begin = begin_of_stack(cache, class_index);
  const std::size_t height = height_of_stack(cache, class_index);
  constexpr std::size_t most = shuffled_group;
  small_numbers random;
  for (std::size_t first = 0; first < height; first += std::min(most, height - first)) {
    for (std::size_t left = std::min(most, height - first); left > 1; --left) {
      std::swap(begin[first + left - 1], begin[first + random.below(left)]);
    }
  }
}

void make_room(heap_cache& cache, size_class class_index) noexcept {
  expects(has_stack(cache, class_index) && cache.tops[class_index] == cache.ends[class_index],
          "room is made in a full stack");
  const bool blocks_leave = has_whole_batch(cache, class_index)
                                ? make_room_in_batch(cache, class_index)
                                : make_room_in_part(cache, class_index);
  if (blocks_leave && may_look_at_all(shard_of(cache))) notice_free_memory();
}

void pass_on_whole(heap_cache& cache) noexcept {
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    spare_batch& place = spare_of(cache, class_index);
    if (!place.is_full()) continue;
    batch* full = place.take().held;
    if (full == nullptr) continue;
    flush_batch(shard_of(cache), full, class_index);
    place.put({.held = full});
  }
}

void empty(heap_cache& cache) noexcept {
  for (size_class class_index = 1; class_index <= mixed_class; ++class_index)
    empty(cache, class_index);
}

std::size_t cached_bytes(heap_cache& cache) noexcept {
  std::size_t bytes = 0;
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    const class_facts& facts = class_table[class_index];
    std::size_t blocks = spare_of(cache, class_index).is_full() ? facts.batch : 0;
    if (has_stack(cache, class_index)) blocks += height_of_stack(cache, class_index);
    if constexpr (chosen_profile.quarantines) blocks += count_held(cache, class_index);
    bytes += blocks * facts.bytes;
  }
  return bytes;
}

} // namespace heapwise::detail
