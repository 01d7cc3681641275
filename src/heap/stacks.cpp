#include "heap/stacks.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "heap/batches.hpp"
#include "heap/bins.hpp"
#include "heap/clock.hpp"
#include "heap/mixed.hpp"
#include "heap/profile.hpp"
#include "heap/quarantine.hpp"
#include "heap/random_numbers.hpp"

namespace heapwise::detail {

namespace {

thread_cache& all_of(heap_cache& cache) noexcept { return static_cast<thread_cache&>(cache); }

/// This many fresh blocks that lie side by side are handed out in a random order, before the next
/// ones are. A program whose data lie far from what it made before and after waits for memory: a
/// loop over 50,000 strings took 2.3 times as long with whole stacks shuffled, 1.2 times with
/// groups of 8. Only the profile for programs that are attacked pays that (decision 109).
constexpr std::size_t shuffled_group = chosen_profile::clears ? SIZE_MAX : 8;

bool has_batch(heap_cache& cache, size_class of) noexcept {
  return all_of(cache).bin_calls[of] >= thread_cache::just_grown;
}

/// Requires: there is one.
batch* batch_of(const heap_cache& cache, size_class of) noexcept {
  return reinterpret_cast<batch*>(cache.ends[of] - class_table[of].batch) - 1;
}

void load(heap_cache& cache, size_class of, batch* loaded, std::uint32_t blocks) noexcept {
  cache.tops[of] = loaded->blocks() + blocks;
  cache.ends[of] = loaded->blocks() + class_table[of].batch;
}

/// Requires: there is a stack. Returns: where its lowest block is, or comes to be.
std::byte** begin_of_stack(heap_cache& cache, size_class of) noexcept {
  return has_batch(cache, of) ? batch_of(cache, of)->blocks() : all_of(cache).short_stack(of);
}

std::size_t height_of_stack(heap_cache& cache, size_class of) noexcept {
  return static_cast<std::size_t>(cache.tops[of] - begin_of_stack(cache, of));
}

/// Requires: the batch in use is as full as the spare one is empty, or the other way round.
void change_batches(heap_cache& cache, size_class of) noexcept {
  batch* const used = batch_of(cache, of);
  const bool was_full = std::exchange(cache.spare_is_full[of], !cache.spare_is_full[of]);
  load(cache, of, std::exchange(cache.spares[of], used), was_full ? class_table[of].batch : 0);
}

/// Effects: from now on the class has a batch, with the blocks of its short stack.
/// Returns: whether there was memory.
bool grow(heap_cache& cache, size_class of) noexcept {
  batch* const made = new_batch(of);
  if (made == nullptr) return false;
  const std::size_t blocks = has_stack(cache, of) ? height_of_stack(cache, of) : 0;
  std::copy_n(all_of(cache).short_stack(of), blocks, made->blocks());
  all_of(cache).bin_calls[of] = thread_cache::just_grown;
  load(cache, of, made, static_cast<std::uint32_t>(blocks));
  return true;
}

/// Effects: counts a call of the bin. The short stack has one place more, or the class has a batch
/// from now on. Requires: a short stack.
void count_bin_call(heap_cache& cache, size_class of) noexcept {
  std::uint8_t& calls = all_of(cache).bin_calls[of];
  if (calls == short_stacks::most_bin_calls(of)) {
    static_cast<void>(grow(cache, of)); // without memory all remains as it is
    return;
  }
  ++calls;
  cache.ends[of] =
      all_of(cache).short_stack(of) + std::min<std::size_t>(calls, short_stacks::most_places(of));
}

/// Effects: fills the short stack, the lowest block on top. Requires: it is empty.
/// Returns: whether there was memory for a block.
bool fill_short(heap_cache& cache, size_class of) noexcept {
  std::byte** const begin = begin_of_stack(cache, of);
  std::byte**& top = cache.tops[of];
  while (top != cache.ends[of]) {
    auto* const block = static_cast<std::byte*>(take_one_block(of));
    if (block == nullptr) break;
    *top++ = block;
  }
  std::reverse(begin, top);
  return top != begin;
}

/// Effects: makes room in the short stack. Half of its blocks, those that were freed first, go back
/// to their spans. Requires: it is full.
void make_room_short(heap_cache& cache, size_class of) noexcept {
  std::byte** const begin = begin_of_stack(cache, of);
  const std::size_t blocks = height_of_stack(cache, of);
  const std::size_t oldest = (blocks + 1) / 2;
  put_back(begin, oldest, of);
  std::copy(begin + oldest, begin + blocks, begin);
  cache.tops[of] = begin + (blocks - oldest);
}

/// Effects: makes room in the batch in use. Requires: it is full. Returns: whether blocks leave the
/// cache.
bool make_room_in_batch(heap_cache& cache, size_class of) noexcept {
  batch*& spare = cache.spares[of];
  if (spare == nullptr && of != mixed_class) spare = new_batch(of);
  if (spare == nullptr) {
    std::byte** const begin = batch_of(cache, of)->blocks();
    put_back(begin, class_table[of].batch, of);
    cache.tops[of] = begin;
    return true;
  }
  // The spare one has the blocks that were freed first.
  const bool flushes = std::exchange(cache.spare_is_full[of], false);
  if (flushes) flush_batch(spare, of);
  change_batches(cache, of);
  return flushes;
}

void empty(heap_cache& cache, size_class of) noexcept {
  if constexpr (chosen_profile::quarantines) release_held(cache, of);
  if (std::byte* const hot = std::exchange(cache.hot[of], nullptr)) put_back(&hot, 1, of);
  if (has_stack(cache, of)) {
    put_back(begin_of_stack(cache, of), height_of_stack(cache, of), of);
    if (has_batch(cache, of)) delete_batch(batch_of(cache, of), of);
    cache.tops[of] = cache.ends[of] = no_room;
    all_of(cache).bin_calls[of] = 0;
  }
  if (batch* const spare = std::exchange(cache.spares[of], nullptr)) {
    if (std::exchange(cache.spare_is_full[of], false)) {
      put_back(spare->blocks(), class_table[of].batch, of);
    }
    delete_batch(spare, of);
  }
}

} // namespace

void put_back(std::byte* const* blocks, std::size_t count, size_class of) noexcept {
  if (of == mixed_class) {
    the_mixed_spans.put_back({blocks, count});
  } else {
    put_back_blocks(blocks, count, of);
  }
}

bool make_stack(heap_cache& cache, size_class of) noexcept {
  if (of == mixed_class) return grow(cache, of);
  cache.tops[of] = cache.ends[of] = all_of(cache).short_stack(of);
  return true;
}

bool fill(heap_cache& cache, size_class of) noexcept {
  if (!has_batch(cache, of)) count_bin_call(cache, of);
  if (!has_batch(cache, of)) return fill_short(cache, of);
  if (cache.spare_is_full[of]) {
    change_batches(cache, of);
    return true;
  }
  batch* used = batch_of(cache, of);
  // Half of the first one, so that a few blocks that come and go from now on find both room and
  // blocks in this batch. From a full one they would go to and fro between two.
  const bool is_first =
      std::exchange(all_of(cache).bin_calls[of], thread_cache::grown) == thread_cache::just_grown;
  const std::uint32_t whole = class_table[of].batch;
  const std::uint32_t blocks = refill_batch(used, of, is_first ? (whole + 1) / 2 : whole);
  load(cache, of, used, blocks);
  return blocks > 0;
}

void shuffle(heap_cache& cache, size_class of) noexcept {
  std::byte** const begin = begin_of_stack(cache, of);
  const std::size_t height = height_of_stack(cache, of);
  constexpr std::size_t most = shuffled_group;
  for (std::size_t first = 0; first < height; first += std::min(most, height - first)) {
    for (std::size_t left = std::min(most, height - first); left > 1; --left) {
      std::swap(begin[first + left - 1], begin[first + random_below(left)]);
    }
  }
}

void bury_top(heap_cache& cache, size_class of) noexcept {
  std::byte** const begin = begin_of_stack(cache, of);
  const std::size_t below = height_of_stack(cache, of) - 1;
  if (below > 0) std::swap(begin[below], begin[random_below(below)]);
}

void make_room(heap_cache& cache, size_class of) noexcept {
  if (!has_batch(cache, of)) count_bin_call(cache, of);
  bool blocks_leave = true;
  if (!has_batch(cache, of)) {
    make_room_short(cache, of);
  } else {
    blocks_leave = cache.tops[of] == cache.ends[of] && make_room_in_batch(cache, of);
  }
  if (blocks_leave && may_look_at_all()) notice_free_memory();
}

void pass_on_whole(heap_cache& cache) noexcept {
  for (size_class of = 1; of <= class_count; ++of) {
    if (!cache.spare_is_full[of]) continue;
    flush_batch(cache.spares[of], of);
    cache.spare_is_full[of] = false;
  }
}

void empty(heap_cache& cache) noexcept {
  for (size_class of = 1; of <= mixed_class; ++of) empty(cache, of);
}

std::size_t cached_bytes(heap_cache& cache) noexcept {
  std::size_t bytes = 0;
  for (size_class of = 1; of <= class_count; ++of) {
    const class_facts& facts = class_table[of];
    std::size_t blocks = cache.spare_is_full[of] ? facts.batch : 0;
    if (has_stack(cache, of)) blocks += height_of_stack(cache, of);
    if constexpr (chosen_profile::quarantines) blocks += count_held(cache, of);
    bytes += blocks * facts.bytes;
  }
  return bytes;
}

} // namespace heapwise::detail
