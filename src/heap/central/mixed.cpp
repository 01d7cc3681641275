#include "heap/central/mixed.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "heap/base/invalid.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/central/hole_search.hpp"
#include "heap/space/free_pages.hpp"
#include "heap/space/space.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit mixed_spans the_mixed_spans;

namespace {

// A request looks at this many spans whose longest hole may be too short before it gives up on
// them.
constexpr int most_tries = 4;

/// The map of a mixed span has a bit for each granule.
std::uint32_t granules_of(size_class class_index) noexcept {
  return class_table[class_index].bytes / static_cast<std::uint32_t>(granule_bytes);
}

/// Blocks of a class are as aligned as in a span of their own.
std::uint32_t alignment_of(size_class class_index) noexcept {
  const std::uint32_t size = granules_of(class_index);
  return size & -size;
}

constexpr std::uint32_t rounded_up(std::uint32_t value, std::uint32_t to) noexcept {
  return (value + to - 1) & ~(to - 1);
}

void see_hole(span& searched, std::uint32_t length) noexcept {
  searched.mixed.longest_seen =
      std::max(searched.mixed.longest_seen, static_cast<std::uint16_t>(length));
}

constexpr std::uint8_t list_of(std::uint32_t hole) noexcept {
  return static_cast<std::uint8_t>(std::bit_width(hole) - 1);
}

} // namespace

void mixed_spans::place(span& member, std::uint32_t longest_hole) noexcept {
  expects(longest_hole <= granules, "a hole is not longer than the span");
  member.mixed.longest_hole = static_cast<std::uint16_t>(longest_hole);
  const std::uint8_t fitting = longest_hole == 0 ? unlisted : list_of(longest_hole);
  if (member.mixed.list == fitting) return;
  remove(member);
  member.mixed.list = fitting;
  if (fitting == unlisted) return;
  lists_[fitting].push(member);
}

void mixed_spans::remove(span& member) noexcept {
  if (member.mixed.list == unlisted) return;
  lists_[member.mixed.list].remove(member);
  member.mixed.list = unlisted;
}

void mixed_spans::count_free(span& of_span, std::ptrdiff_t more) noexcept {
  expects_held(lock_);
  of_span.mixed.free_granules += static_cast<std::uint32_t>(more);
  // Not one read-modify-write: all writers hold the lock.
  free_granules_.store(
      free_granules_.load(std::memory_order_relaxed) + static_cast<std::size_t>(more),
      std::memory_order_relaxed);
}

size_class mixed_spans::class_of_block(const void* block) const noexcept {
  return the_space.granule_class(block).load(std::memory_order_relaxed);
}

void mixed_spans::adopt(span& sparse, size_class class_index) noexcept {
  expects(sparse.slices == 1 && sparse.class_index == class_index,
          "a mixed span has one slice, and had blocks of the class");
  const std::uint32_t size = granules_of(class_index);
  const class_facts& facts = class_table[class_index];
  std::byte* const begin = the_space.begin_of(sparse);
  const std::lock_guard hold{lock_};
  const block_map blocks = sparse.free_map;
  sparse.free_map = {};
  std::uint32_t hole = 0;
  std::uint32_t longest = 0;
  for (std::uint32_t block = 0; block < facts.blocks; ++block) {
    if (blocks.test(block)) {
      sparse.free_map.set_run(block * size, size);
      hole += size;
      continue;
    }
    longest = std::max(longest, hole);
    hole = 0;
    the_space.granule_class(begin + std::size_t{block} * facts.bytes)
        .store(static_cast<std::uint8_t>(class_index), std::memory_order_relaxed);
  }
  const std::uint32_t rest = granules - facts.blocks * size;
  sparse.free_map.set_run(facts.blocks * size, rest);
  longest = std::max(longest, hole + rest);
  const std::uint32_t free = sparse.small.free_blocks() * size + rest;
  sparse.touched = 1;
  sparse.mixed = {.purged_pages = sparse.small.purged_pages,
                  .free_granules = 0,
                  .longest_hole = 0,
                  .searched = 0,
                  .longest_seen = 0,
                  .list = unlisted};
  count_free(sparse, free);
  count_.fetch_add(1, std::memory_order_relaxed);
  // Release: pairs with the acquires of bin::take_back and put_back_alone. A thread that still sees
  // the class of the slice frees into its cache's stack of this class. That is right: when the
  // block comes back to its span, the use says where it belongs.
  sparse.use.store(slice_use::mixed, std::memory_order_release);
  the_space.set_class(sparse, mixed_class);
  place(sparse, longest);
}

std::uint32_t mixed_spans::cut(span& from, std::byte**& top, std::uint32_t wanted,
                               size_class class_index) noexcept {
  expects_held(lock_);
  const std::uint32_t size = granules_of(class_index);
  const std::uint32_t alignment = alignment_of(class_index);
  hole_search search{from.free_map, from.mixed.searched};
  std::uint32_t longest = from.mixed.longest_seen;
  std::uint32_t taken = 0;
  while (true) {
    const hole next = search.next();
    if (next.first == granules) {
      // All of it was seen since the search began: what is known of the holes is exact again.
      place(from, longest);
      from.mixed.longest_seen = 0;
      from.mixed.searched = 0;
      break;
    }
    const std::uint32_t first = rounded_up(next.first, alignment);
    if (first + size > next.end) {
      longest = std::max(longest, next.length());
      continue;
    }
    const std::uint32_t blocks =
        hand_out(from, {first, next.end}, top, wanted - taken, class_index);
    const std::uint32_t end = first + blocks * size;
    taken += blocks;
    longest = std::max(longest, first - next.first);
    if (taken == wanted) {
      from.mixed.longest_seen = static_cast<std::uint16_t>(longest);
      from.mixed.searched = static_cast<std::uint16_t>(end);
      break;
    }
    longest = std::max(longest, next.end - end); // too short for another one
  }
  from.touched = 1;
  return taken;
}

std::uint32_t mixed_spans::hand_out(span& from, hole part, std::byte**& top, std::uint32_t most,
                                    size_class class_index) noexcept {
  const std::uint32_t size = granules_of(class_index);
  std::byte* const begin = the_space.begin_of(from);
  std::uint32_t end = part.first;
  std::uint32_t blocks = 0;
  for (; blocks < most && end + size <= part.end; end += size, ++blocks) {
    std::byte* const block = begin + std::size_t{end} * granule_bytes;
    the_space.granule_class(block).store(static_cast<std::uint8_t>(class_index),
                                         std::memory_order_relaxed);
    *top++ = block;
  }
  expects(blocks > 0, "the hole is long enough for a block");
  from.free_map.clear_run(part.first, end - part.first);
  count_free(from, -static_cast<std::ptrdiff_t>(end - part.first));
  if (from.mixed.purged_pages != 0) {
    const std::size_t page = os::page_bytes() / granule_bytes;
    from.mixed.purged_pages &=
        ~page_bits(part.first / page, (end - 1) / page - part.first / page + 1);
  }
  return blocks;
}

std::uint32_t mixed_spans::take(std::byte**& top, std::uint32_t wanted,
                                size_class class_index) noexcept {
  if (count_.load(std::memory_order_relaxed) == 0) return 0;
  const std::uint32_t size = granules_of(class_index);
  // A hole of twice the size less one granule is sure to hold an aligned block.
  const std::uint8_t sure = list_of(std::bit_ceil(size + alignment_of(class_index) - 1));
  const std::lock_guard hold{lock_};
  std::uint32_t taken = 0;
  int tries = most_tries;
  for (std::uint8_t list = list_of(size); list < list_count && taken < wanted;) {
    span* from = lists_[list].first();
    if (list < sure) {
      // The longest may be too short: those that are go to the end of the search, not of the list.
      while (from != nullptr && from->mixed.longest_hole < size && tries > 0) {
        from = from->next;
        --tries;
      }
      if (tries == 0) from = nullptr;
    }
    if (from == nullptr) {
      ++list;
      continue;
    }
    const std::uint32_t more = cut(*from, top, wanted - taken, class_index);
    taken += more;
    if (more == 0 && --tries <= 0) ++list;
  }
  return taken;
}

void mixed_spans::put_back(std::span<std::byte* const> blocks) noexcept {
  if (blocks.empty()) return;
  // What is known of them is scattered: it is on its way before the first is needed.
  for (const std::byte* const block : blocks) the_space.prefetch_mixed(block);
  linked_stack<span> empty;
  lock_.lock();
  for (std::byte* const block : blocks) {
    if (put_back_locked(block, empty)) continue;
    // Without the lock: a handler of SIGABRT may allocate, and standard error may be slow.
    lock_.unlock();
    invalid_free(block, invalid::freed_before);
    lock_.lock();
  }
  lock_.unlock();
  while (!empty.is_empty()) the_space.give(empty.pop());
}

void mixed_spans::let_go(span& empty) noexcept {
  expects_held(lock_);
  remove(empty);
  count_free(empty, -static_cast<std::ptrdiff_t>(granules));
  count_.fetch_sub(1, std::memory_order_relaxed);
  empty.use.store(slice_use::none, std::memory_order_relaxed);
  the_space.set_class(empty, no_class);
}

bool mixed_spans::put_back_locked(std::byte* block, linked_stack<span>& empty) noexcept {
  span* const slice = the_space.record(the_space.slice_of(block));
  expects(slice != nullptr, "a block that comes back lies in the space");
  span& home = *slice; // a mixed span has one slice
  std::atomic<std::uint8_t>& kept = the_space.granule_class(block);
  const size_class class_index = kept.load(std::memory_order_relaxed);
  if (class_index == no_class || home.use.load(std::memory_order_relaxed) != slice_use::mixed) {
    return false;
  }
  const std::uint32_t size = granules_of(class_index);
  const auto first = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block) %
                                                slice_bytes / granule_bytes);
  kept.store(no_class, std::memory_order_relaxed);
  home.free_map.set_run(first, size);
  count_free(home, size);
  home.touched = 1;
  if (home.mixed.free_granules == granules) [[unlikely]] {
    let_go(home);
    empty.push(home);
    return true;
  }
  // Never too low, whatever the hole grew together with; the next search will know.
  const bool before = first > 0 && home.free_map.test(first - 1);
  const bool behind = first + size < granules && home.free_map.test(first + size);
  const std::uint32_t known = home.mixed.longest_hole;
  const std::uint32_t grown =
      std::min(home.mixed.free_granules, size + (before ? known : 0) + (behind ? known : 0));
  if (first < home.mixed.searched) see_hole(home, grown);
  if (grown <= known) return true;
  if (list_of(grown) == home.mixed.list) { // mostly
    home.mixed.longest_hole = static_cast<std::uint16_t>(grown);
  } else {
    place(home, grown);
  }
  return true;
}

std::size_t mixed_spans::purge_pages(span& of_span, bool even_if_touched) noexcept {
  const std::lock_guard hold{lock_};
  if (of_span.use.load(std::memory_order_relaxed) != slice_use::mixed) return 0;
  if (of_span.touched != 0 && !even_if_touched) {
    of_span.touched = 0;
    return 0;
  }
  const std::size_t page = os::page_bytes() / granule_bytes;
  return purge_free_pages(of_span.mixed.purged_pages, the_space.begin_of(of_span), granules / page,
                          [&](std::size_t number) {
                            const auto first = static_cast<std::uint32_t>(number * page);
                            const auto end = static_cast<std::uint32_t>(first + page);
                            return of_span.free_map.find(false, first, end) == end;
                          });
}

} // namespace heapwise::detail
