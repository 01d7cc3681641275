// From caches back to spans.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "heap/base/address_runs.hpp"
#include "heap/base/invalid.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/central/bin.hpp"
#include "heap/central/bin_change.hpp"
#include "heap/central/bins.hpp"
#include "heap/central/block_places.hpp"
#include "heap/central/mixed.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heap/checks/span_guard.hpp"
#include "heap/space/space.hpp"

namespace heapwise::detail {

namespace {

/// Effects: a sampled block of malloc that was freed with its size is gone, and the block for which
/// it stood goes back to its span.
[[maybe_unused]] void put_back_sampled(std::byte* sampled) noexcept {
  const replaced_block replaced = the_samples.release(sampled);
  if (replaced.block == nullptr) return; // the fault was reported
  put_back_blocks(&replaced.block, 1, replaced.class_index);
}

/// What waits in batches beyond this goes back to the spans at once.
constexpr std::size_t most_stocked_bytes = std::size_t{256} << 10;
constexpr std::size_t least_most_stocked = 16;

constexpr std::size_t most_stocked(size_class class_index) noexcept {
  const class_facts& facts = class_table[class_index];
  return std::max(least_most_stocked, most_stocked_bytes / (facts.batch * facts.bytes));
}

/// Returns: the distance of blocks that follow in order and are neighbours, or 0.
/// Requires: there are four.
HEAPWISE_ALWAYS_INLINE std::ptrdiff_t order_of(std::byte* const* at, std::size_t bytes) noexcept {
  const auto size = static_cast<std::ptrdiff_t>(bytes);
  const std::ptrdiff_t distance = at[3] - at[0];
  if (distance != 3 * size && distance != -3 * size) return 0;
  const std::ptrdiff_t step = distance > 0 ? size : -size;
  return at[1] - at[0] == step && at[2] - at[1] == step ? step : 0;
}

} // namespace

void bin::flush(batch*& full, size_class class_index) noexcept {
  if (!stock(full, class_index))
    put_back_batch({full->blocks(), class_table[class_index].batch}, true, class_index);
}

bool bin::stock(batch*& full, size_class class_index) noexcept {
  // Relaxed: whether there is room is looked at again under the lock.
  if (stocked_.load(std::memory_order_relaxed) >= most_stocked(class_index)) return false;
  {
    const std::lock_guard hold{lock_};
    const std::uint32_t stocked = stocked_.load(std::memory_order_relaxed);
    if (stocked >= most_stocked(class_index)) return false;
    batch* const empty =
        !empty_batches_.is_empty() ? &empty_batches_.pop() : new_batch(class_index, shard_);
    if (empty == nullptr) return false;
    ++flushes_;
    full->mark.written();
    stock_.push(*std::exchange(full, empty));
    stocked_.store(stocked + 1, std::memory_order_relaxed);
  }
  count_stocked(1, class_index);
  return true;
}

void bin::put_back(std::byte* const* blocks, std::size_t count, size_class class_index) noexcept {
  while (count > 0) {
    const std::size_t some = std::min(count, max_batch);
    put_back_batch({blocks, some}, false, class_index);
    blocks += some;
    count -= some;
  }
}

void bin::put_back_batch(std::span<std::byte* const> blocks, bool is_flush,
                         size_class class_index) noexcept {
  std::array<std::byte*, max_batch> doubtful; // all that is read of it was written before
  std::span<std::byte* const> left = blocks;
  std::uint32_t tried = 0; // shards
  for (bin* next = this; next != nullptr; next = next_bin(left, tried, class_index)) {
    tried |= std::uint32_t{1} << next->shard_;
    change ongoing{*next, class_index};
    if (next == this && is_flush) ++flushes_;
    left = {doubtful.data(), next->take_back(left, doubtful.data(), ongoing, class_index)};
  }
  for (std::byte* const each : left) home_of(each, class_index).put_back_alone(each, class_index);
}

bin& bin::home_of(const std::byte* block, size_class class_index) noexcept {
  const span* const home = the_space.find_span(block);
  if (home == nullptr) return *this;
  // Relaxed: see span::key.
  const bin_key key = home->key.load(std::memory_order_relaxed);
  return key.class_index() == class_index ? of_shard(key.shard(), class_index) : *this;
}

bin* bin::next_bin(std::span<std::byte* const> blocks, std::uint32_t tried,
                   size_class class_index) noexcept {
  for (const std::byte* const each : blocks) {
    bin& home = home_of(each, class_index);
    if ((tried >> home.shard_ & 1) == 0) return &home;
  }
  return nullptr;
}

void bin::take_whole(span& whole, change& ongoing, size_class class_index) noexcept {
  if (spare_ == nullptr) {
    spare_ = &whole;
  } else {
    dissolve(whole, ongoing, class_index);
  }
}

void bin::change_list(span& home, change& ongoing, size_class class_index) noexcept {
  const std::uint32_t blocks = blocks_of_span(class_index);
  lists_.place(home, blocks);
  if (home.small.free_blocks() == blocks) take_whole(home, ongoing, class_index);
}

/// Takes blocks back to the spans of one bin, whose lock is held.
template <bool one_slice>
class bin::returning {
 public:
  returning(bin& to, change& ongoing, size_class class_index, std::byte** doubtful) noexcept
      : bin_{to},
        ongoing_{ongoing},
        class_{class_index},
        places_{bin_key{class_index, to.shard_}},
        doubtful_{doubtful} {}

  /// Effects: takes back the blocks, but not those that are not the bin's, or are free already.
  /// They are written to the array of doubtful ones. Returns: behind the last one of these.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE std::byte** take_back(std::byte* const* at,
                                                             std::byte* const* end) noexcept {
    constexpr std::ptrdiff_t at_once = 8; // until it is asked again whether there is an order
    const std::size_t bytes = class_table[class_].bytes;
    const std::size_t near = word_bits * bytes;
    const places here = places_; // the compiler knows that nobody changes it
    while (end - at >= at_once) {
      if (static_cast<std::size_t>(at[1] - at[0]) + near >= 2 * near) {
#pragma GCC unroll 4
        for (std::ptrdiff_t i = 0; i < at_once; ++i) take_one(here, at[i]);
        at += at_once;
      } else if (const std::ptrdiff_t distance = order_of(at, bytes); distance != 0) {
        at = take_run(at, end, distance);
      } else {
        at = take_near(here, at, end);
      }
    }
    for (; at != end; ++at) take_one(here, *at);
    return doubtful_;
  }

 private:
  using places = block_places<one_slice>;
  using map_word = std::uint64_t;
  static constexpr std::size_t word_bits = block_map::word_bits;

  HEAPWISE_ALWAYS_INLINE void count(span& home, std::uint32_t blocks) noexcept {
    home.touched = 1;
    home.mark.written();
    if (home.small.add_free(blocks)) [[unlikely]]
      bin_.change_list(home, ongoing_, class_);
  }

  HEAPWISE_ALWAYS_INLINE void take_one(const places& here, std::byte* block) noexcept {
    const auto [is_known, home, number] = here.of(block);
    if (!is_known || !home->free_map.set_one_if_clear(number)) [[unlikely]] {
      *doubtful_++ = block;
      return;
    }
    count(*home, 1);
  }

  /// Effects: takes back the first block, and those behind it whose bits share a word with it.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE std::byte* const* take_near(const places& here,
                                                                   std::byte* const* at,
                                                                   std::byte* const* end) noexcept {
    std::byte* const block = *at++;
    const auto [is_known, home, number] = here.of(block);
    if (!is_known) [[unlikely]] {
      *doubtful_++ = block;
      return at;
    }
    map_word& word = home->free_map.word_of(number);
    map_word bits = word;
    if (block_map::test_and_set(bits, number)) [[unlikely]] {
      *doubtful_++ = block;
      return at;
    }
    const auto near = here.same_word(block, number);
    std::byte* const* const begin = at;
    for (; at != end; ++at) {
      const std::size_t bit = near.bit_of(*at);
      if (!near.has(bit) || block_map::test_and_set(bits, bit)) break;
    }
    word = bits;
    count(*home, static_cast<std::uint32_t>(1 + (at - begin)));
    return at;
  }

  /// Effects: takes back blocks that follow each other at a distance, up to the end of their span.
  [[nodiscard]] HEAPWISE_NOINLINE std::byte* const* take_run(std::byte* const* at,
                                                             std::byte* const* end,
                                                             std::ptrdiff_t distance) noexcept {
    const auto [is_known, home, number] = places_.of(*at);
    if (!is_known) [[unlikely]] {
      *doubtful_++ = *at++;
      return at;
    }
    const bool upwards = distance > 0;
    const std::size_t room = upwards ? blocks_of_span(class_) - number : number + 1;
    const std::size_t run =
        count_in_run(at, std::min(static_cast<std::size_t>(end - at), room), distance);
    std::size_t taken = 0;
    std::size_t bit = number;
    for (std::size_t left = run; left != 0;) {
      const std::size_t in_word = bit % word_bits;
      const std::size_t some = std::min(left, upwards ? word_bits - in_word : in_word + 1);
      const map_word bits = ~map_word{0} >> (word_bits - some)
                                                << (upwards ? in_word : in_word + 1 - some);
      if (home->free_map.set_if_clear(static_cast<std::uint32_t>(bit / word_bits), bits))
          [[likely]] {
        taken += some;
      } else {
        doubtful_ = std::copy_n(at, some, doubtful_);
      }
      at += some;
      left -= some;
      bit = upwards ? bit + some : bit - some;
    }
    if (taken != 0) count(*home, static_cast<std::uint32_t>(taken));
    return at;
  }

  bin& bin_;
  change& ongoing_;
  size_class class_;
  places places_;
  std::byte** doubtful_;
};

std::size_t bin::take_back(std::span<std::byte* const> blocks, std::byte** doubtful,
                           change& ongoing, size_class class_index) noexcept {
  const auto begin = blocks.data();
  const auto end = begin + blocks.size();
  std::byte** const last =
      class_table[class_index].slices == 1
          ? returning<true>{*this, ongoing, class_index, doubtful}.take_back(begin, end)
          : returning<false>{*this, ongoing, class_index, doubtful}.take_back(begin, end);
  const auto left = static_cast<std::size_t>(last - doubtful);
  add_free(static_cast<std::ptrdiff_t>(blocks.size() - left));
  return left;
}

void bin::put_back_alone(std::byte* block, size_class class_index) noexcept {
  const std::span<std::byte* const> one{&block, 1};
  {
    std::byte* doubtful = nullptr;
    change ongoing{*this, class_index};
    if (take_back(one, &doubtful, ongoing, class_index) == 0) return;
  }
  span* const home = the_space.find_span(block);
  if (home == nullptr) {
    if constexpr (chosen_profile.samples_guards) {
      if (the_guards.release(block)) return; // one of malloc that was freed with its size
    }
    if constexpr (can_sample) {
      if (the_samples.holds(block)) return put_back_sampled(block);
    }
    return invalid_free(block, invalid::foreign);
  }
  // Acquire: pairs with the releases of mixed_spans::adopt and make_span. What they wrote about the
  // span is seen.
  const slice_use use = home->use.load(std::memory_order_acquire);
  if (use == slice_use::mixed) return the_mixed_spans.put_back(one);
  const bool is_inside = use == slice_use::small && home->class_index == class_index &&
                         divisions[class_index].number_at(static_cast<std::uint64_t>(
                             block - the_space.begin_of(*home))) >= blocks_of_span(class_index);
  invalid_free(block, is_inside ? invalid::inside_block : invalid::freed_before);
}

} // namespace heapwise::detail
