// From spans to caches.
#include <algorithm>
#include <bit>
#include <utility>

#include "heap/base/address_runs.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/random_numbers.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/central/bin.hpp"
#include "heap/central/bin_change.hpp"
#include "heap/central/mixed.hpp"
#include "heap/central/mixing.hpp"
#include "heap/checks/block_states.hpp"
#include "heap/checks/span_guard.hpp"
#include "heap/space/space.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

/// With this part of a batch from holes a thread is content.
constexpr std::uint32_t enough_part = 4;

// A span that becomes a mixed one costs some 10 us, and the locks of two bins are held meanwhile.
constexpr int most_mixed_at_once = 4;

/// Returns: in which word of a span's map the search for blocks begins: within 16 KiB, so that
/// threads that need few blocks touch few pages.
[[maybe_unused]] std::uint32_t random_word_of(size_class class_index) noexcept {
  constexpr std::size_t scattered_bytes = std::size_t{16} << 10;
  constexpr std::size_t most_words = 4;
  const std::size_t bytes_of_a_word =
      block_map::word_bits * std::size_t{class_table[class_index].bytes};
  const std::size_t words =
      std::clamp(scattered_bytes / bytes_of_a_word, std::size_t{1}, most_words);
  return static_cast<std::uint32_t>(random_below(words));
}

/// Effects: pages that were given back are in use again, because these blocks are.
void use_pages(span& home, std::uint32_t first, std::uint32_t count,
               size_class class_index) noexcept {
  const auto page_shift = static_cast<unsigned>(std::countr_zero(os::page_bytes()));
  const std::size_t bytes = class_table[class_index].bytes;
  const std::size_t begin = first * bytes >> page_shift;
  const std::size_t end = ((first + count) * bytes - 1) >> page_shift;
  home.small.purged_pages &= ~page_bits(begin, end - begin + 1);
}

} // namespace

span* bin::make_span(size_class class_index) noexcept {
  expects_held(lock_);
  expects(class_index != no_class && class_index <= class_count, "a span has blocks of a class");
  const class_facts& facts = class_table[class_index];
  bool clean = false;
  span* const new_span = the_space.take(facts.slices, 1, clean);
  if (new_span == nullptr) return nullptr;
  for (std::uint32_t each = 1; each < facts.slices; ++each) {
    new_span[each].slices = each;
    new_span[each].use.store(slice_use::inside, std::memory_order_relaxed);
  }
  const std::size_t pages = facts.slices * slice_bytes / os::page_bytes();
  new_span->class_index = static_cast<std::uint8_t>(class_index);
  new_span->small.fullness = span_lists::unlisted;
  new_span->small.most_free = 0;
  new_span->small.set_free(blocks_of_span(class_index));
  new_span->small.purged_pages = clean ? page_bits(0, pages) : 0;
  new_span->touched = 1;
  new_span->shard.store(shard_, std::memory_order_relaxed); // published with the use and the class
  new_span->free_map.fill(blocks_of_span(class_index));
  block_states::forget(*new_span);
  guard_end(*new_span);
  new_span->key.store({class_index, shard_}, std::memory_order_relaxed);
  // Release: pairs with the acquire of bin::put_back_alone, which may be asked to take back a block
  // that is free, by a thread that has not seen anything of the span.
  new_span->use.store(slice_use::small, std::memory_order_release);
  the_space.set_class(*new_span, class_index);
  lists_.place(*new_span, blocks_of_span(class_index));
  ++spans_;
  add_free(blocks_of_span(class_index));
  return new_span;
}

std::uint32_t bin::take_blocks(span& from, std::byte** top, std::uint32_t wanted,
                               size_class class_index) noexcept {
  const class_facts& facts = class_table[class_index];
  std::byte* const begin = the_space.begin_of(from);
  expects(from.class_index == class_index && from.small.free_blocks() > 0,
          "the span has free blocks of the class");
  expects(wanted > 0, "blocks are wanted");
  if (&from == spare_) spare_ = nullptr;
  from.touched = 1;
  from.mark.written();
  const std::uint32_t count = std::min(wanted, from.small.free_blocks());
  std::byte** slot = top + count;
  const auto hand_out = [&](std::uint32_t first, std::uint32_t length) {
    write_run(slot, begin + std::size_t{first} * facts.bytes, length, facts.bytes);
    slot -= length;
    if (from.small.purged_pages != 0) use_pages(from, first, length, class_index);
  };
  if constexpr (chosen_profile.scatters_blocks) {
    from.free_map.take_scattered(count, blocks_of_span(class_index), random_word_of(class_index),
                                 random_bits, [&](std::uint32_t block) { hand_out(block, 1); });
  } else {
    from.free_map.take_lowest(count, hand_out);
  }
  from.small.remove_free(count);
  add_free(-static_cast<std::ptrdiff_t>(count));
  lists_.place(from, blocks_of_span(class_index));
  return count;
}

std::uint32_t bin::take_from_spans(std::byte** top, std::uint32_t wanted,
                                   size_class class_index) noexcept {
  std::uint32_t taken = 0;
  while (taken < wanted) {
    span* const from = lists_.fullest();
    if (from == nullptr) break;
    taken += take_blocks(*from, top + taken, wanted - taken, class_index);
  }
  return taken;
}

std::uint32_t bin::refill_locked(batch*& loaded, size_class class_index, std::uint32_t most,
                                 bool may_grow) noexcept {
  expects_held(lock_);
  expects(loaded != nullptr && most > 0, "a batch is filled with blocks");
  const std::uint32_t whole = class_table[class_index].batch;
  const std::uint32_t wanted = std::min(most, whole);
  if (has_ripe_batch()) {
    ++refills_;
    empty_batches_.push(*std::exchange(loaded, take_stocked()));
    loaded->mark.written();
    lock_.unlock();
    count_stocked(-1, class_index);
    return whole;
  }
  std::uint32_t taken = 0;
  {
    const change ongoing{*this, class_index, std::adopt_lock};
    std::byte** const bottom = loaded->blocks();
    taken = take_from_spans(bottom, wanted, class_index);
    if (taken > 0 || may_grow) ++refills_;
    if (taken > 0 || !may_grow) return taken;
    taken = take_from_holes(bottom, wanted, class_index);
    if (taken == 0 && make_span(class_index) == nullptr) return 0;
    taken += take_from_spans(bottom + taken, wanted - taken, class_index);
  }
  purge_after_growth();
  return taken;
}

std::uint32_t bin::refill(batch*& loaded, size_class class_index, std::uint32_t most) noexcept {
  lock_.lock();
  return refill_locked(loaded, class_index, most, true);
}

std::uint32_t bin::refill_if_free(batch*& loaded, size_class class_index, std::uint32_t most,
                                  bool may_wait) noexcept {
  if (may_wait) {
    lock_.lock();
  } else if (!lock_.try_lock()) {
    return 0;
  }
  return refill_locked(loaded, class_index, most, false);
}

std::uint32_t bin::take_from_holes(std::byte** top, std::uint32_t wanted,
                                   size_class class_index) noexcept {
  std::uint32_t taken = the_mixed_spans.take(top, wanted, class_index);
  for (int mixed = 0; mixed < most_mixed_at_once && taken < wanted / enough_part; ++mixed) {
    if (!sparse_enough() || !mix_sparsest(class_index)) break;
    const std::uint32_t more = the_mixed_spans.take(top, wanted - taken, class_index);
    if (more == 0) break; // the hole is not aligned, or another thread was quicker
    taken += more;
  }
  return taken;
}

void* bin::take_one(size_class class_index) noexcept {
  std::byte* block = nullptr;
  batch* unpacked = nullptr;
  do {
    if (unpacked != nullptr) { // before a new span is made
      put_back(unpacked->blocks(), class_table[class_index].batch, class_index);
      delete_batch(std::exchange(unpacked, nullptr), class_index);
    }
    const change ongoing{*this, class_index};
    span* from = lists_.fullest();
    if (from == nullptr && !stock_.is_empty()) {
      unpacked = take_stocked();
      continue;
    }
    if (from == nullptr) from = make_span(class_index);
    std::byte** top = &block;
    if (from != nullptr) {
      take_blocks(*from, top, 1, class_index);
    } else { // holes do not need a new span
      static_cast<void>(the_mixed_spans.take(top, 1, class_index));
    }
  } while (unpacked != nullptr);
  return block;
}

} // namespace heapwise::detail
