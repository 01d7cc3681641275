#include "heap/space.hpp"

#include <algorithm>
#include <bit>

#include "heap/options.hpp"
#include "heap/page_returns.hpp"
#include "heap/profile.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit heap_map the_heap_map;
constinit space the_space;

namespace {

// 1 TiB of addresses costs nothing; where they are limited, a quarter of what is allowed is left to
// the rest of the program.
constexpr std::size_t most_slices = (std::size_t{1} << 40) / slice_bytes;
constexpr std::size_t fewest_slices = (std::size_t{1} << 20) / slice_bytes; // 1 MiB
constexpr std::size_t commit_step = 64; // slices made usable at once, at least

constexpr std::size_t bits = 64;

constexpr std::size_t granules_of_a_slice = slice_bytes / granule_bytes;

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

/// How the tables lie in front of the slices: classes and ages, a byte for each slice; two maps
/// with a bit for each; the spans; for mixed spans a byte for each granule.
struct layout {
  explicit layout(std::size_t slices) noexcept
      : bytes_of_a_table{round_up(slices, os::page_bytes())},
        words_of_a_map{round_up(slices, bits) / bits},
        maps_begin{2 * bytes_of_a_table},
        spans_begin{round_up(maps_begin + 2 * words_of_a_map * sizeof(std::uint64_t), slice_bytes)},
        granule_classes_begin{round_up(spans_begin + slices * sizeof(span), slice_bytes)},
        slices_begin{granule_classes_begin + slices * granules_of_a_slice},
        bytes{slices_begin + slices * slice_bytes} {}

  std::size_t bytes_of_a_table;
  std::size_t words_of_a_map;
  std::size_t maps_begin;
  std::size_t spans_begin;
  std::size_t granule_classes_begin;
  std::size_t slices_begin;
  std::size_t bytes;
};

constexpr std::uint64_t ones(std::size_t from, std::size_t to) noexcept {
  const std::uint64_t below = to == bits ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
  return below & (~std::uint64_t{0} << from);
}

/// Calls `change(word, mask)` for each word of a bitmap that holds some of the bits.
template <class Change>
void each_word(std::uint64_t* words, slice_index first, std::size_t count, Change change) {
  const slice_index end = first + count;
  while (first < end) {
    const std::size_t from = first % bits;
    const std::size_t to = std::min(bits, from + (end - first));
    change(words[first / bits], ones(from, to));
    first += to - from;
  }
}

} // namespace

bool space::start() noexcept {
  const std::size_t allowed = os::address_limit_bytes() / slice_bytes;
  const std::size_t most =
      refused_before_ ? fewest_slices : std::min(most_slices, allowed - allowed / 4);
  // Where addresses are scarce, smaller steps find more of them.
  const std::size_t step = most < most_slices ? 8 : 2;
  for (std::size_t slices = most; slices >= fewest_slices; slices -= slices / step) {
    if (start_with(slices)) return true;
  }
  refused_before_ = true;
  return false;
}

bool space::start_with(std::size_t slices) noexcept {
  const layout parts{slices};
  auto* const memory = static_cast<std::byte*>(os::reserve(parts.bytes, slice_bytes));
  if (memory == nullptr) return false;
  // The classes are read for any address of the range, long before there are slices.
  if (!os::show(memory, parts.bytes_of_a_table) ||
      !os::commit(memory + parts.maps_begin, parts.spans_begin - parts.maps_begin)) {
    os::unmap(memory, parts.bytes);
    return false;
  }
  freed_at_ = reinterpret_cast<std::uint8_t*>(memory + parts.bytes_of_a_table);
  used_ = reinterpret_cast<word*>(memory + parts.maps_begin);
  dirty_ = used_ + parts.words_of_a_map;
  spans_ = reinterpret_cast<span*>(memory + parts.spans_begin);
  granule_classes_ =
      reinterpret_cast<std::atomic<std::uint8_t>*>(memory + parts.granule_classes_begin);
  reserved_slices_ = slices;
  base_ = reinterpret_cast<std::uintptr_t>(memory + parts.slices_begin);
  the_heap_map = {.base = base_,
                  .granules = slices * (slice_bytes / granule_bytes),
                  .classes = reinterpret_cast<std::atomic<std::uint8_t>*>(memory)};
  return true;
}

slice_index space::first_with(bool used, slice_index from, slice_index limit) const noexcept {
  const word flip = used ? 0 : ~word{0};
  for (slice_index at = from; at < limit; at = (at / bits + 1) * bits) {
    const word candidates = (used_[at / bits] ^ flip) & (~word{0} << (at % bits));
    if (candidates == 0) continue;
    const slice_index found =
        at / bits * bits + static_cast<std::size_t>(std::countr_zero(candidates));
    return std::min(found, limit);
  }
  return limit;
}

bool space::over_limit(std::size_t more_slices) const noexcept {
  const std::size_t used = used_slices_.load(std::memory_order_relaxed) - being_purged_;
  return used + more_slices > the_options.limit_bytes / slice_bytes;
}

slice_index space::find(std::size_t count, std::size_t alignment) const noexcept {
  const std::uintptr_t base_slice = base_ / slice_bytes;
  slice_index at = lowest_free_;
  while (at + count <= reserved_slices_) {
    at = first_with(false, at, reserved_slices_);
    at = round_up(base_slice + at, alignment) - base_slice;
    if (at + count > reserved_slices_) break;
    const slice_index taken = first_with(true, at, at + count);
    if (taken == at + count) return at;
    at = taken + 1;
  }
  return reserved_slices_;
}

bool space::commit_to(slice_index end) noexcept {
  const std::size_t committed = committed_slices_.load(std::memory_order_relaxed);
  if (end <= committed) return true;
  const std::size_t step = std::max(commit_step, committed / 8);
  for (const slice_index wanted : {std::min(reserved_slices_, committed + step), end}) {
    if (wanted < end || !commit_tables(committed, wanted) ||
        !os::commit(address_of(committed), (wanted - committed) * slice_bytes)) {
      continue;
    }
    committed_slices_.store(wanted, std::memory_order_release);
    return true;
  }
  return false;
}

bool space::commit_tables(slice_index from, slice_index to) noexcept {
  const auto commit = [&](void* table, std::size_t bytes_of_a_slice) {
    const std::size_t page = os::page_bytes();
    const std::size_t begin = from * bytes_of_a_slice / page * page;
    const std::size_t end = round_up(to * bytes_of_a_slice, page);
    return os::commit(static_cast<std::byte*>(table) + begin, end - begin);
  };
  return commit(the_heap_map.classes, 1) && commit(freed_at_, 1) && commit(spans_, sizeof(span)) &&
         commit(granule_classes_, granules_of_a_slice);
}

/// Returns: whether none of the slices was dirty.
bool space::mark_used(slice_index first, std::size_t count) noexcept {
  std::size_t were_dirty = 0;
  each_word(used_, first, count, [](word& at, word mask) { at |= mask; });
  each_word(dirty_, first, count, [&](word& at, word mask) {
    were_dirty += static_cast<std::size_t>(std::popcount(at & mask));
    at &= ~mask;
  });
  if (first == lowest_free_) lowest_free_ = first + count;
  used_slices_.store(used_slices_.load(std::memory_order_relaxed) + count,
                     std::memory_order_relaxed);
  dirty_slices_.store(dirty_slices_.load(std::memory_order_relaxed) - were_dirty,
                      std::memory_order_relaxed);
  return were_dirty == 0;
}

void space::mark_free(slice_index first, std::size_t count, bool clean) noexcept {
  each_word(used_, first, count, [](word& at, word mask) { at &= ~mask; });
  used_slices_.store(used_slices_.load(std::memory_order_relaxed) - count,
                     std::memory_order_relaxed);
  lowest_free_ = std::min(lowest_free_, first);
  if (clean) return;
  each_word(dirty_, first, count, [](word& at, word mask) { at |= mask; });
  std::fill_n(freed_at_ + first, count, now_.load(std::memory_order_relaxed));
  dirty_slices_.store(dirty_slices_.load(std::memory_order_relaxed) + count,
                      std::memory_order_relaxed);
}

span* space::take(std::size_t count, std::size_t alignment, bool& was_clean) noexcept {
  std::unique_lock hold{lock_};
  if (over_limit(count)) return nullptr;
  slice_index first = find(count, alignment);
  while (first == reserved_slices_ && being_purged_ > 0) { // soon they will be there again
    hold.unlock();
    os::pause();
    hold.lock();
    first = find(count, alignment);
  }
  if (first == reserved_slices_ || !commit_to(first + count)) return nullptr;
  was_clean = mark_used(first, count);
  span& made = spans_[first];
  made.slices = static_cast<std::uint32_t>(count);
  return &made;
}

bool space::extend(span& grown, std::size_t count) noexcept {
  const std::lock_guard hold{lock_};
  const slice_index end = index_of(grown) + grown.slices;
  const std::size_t more = count - grown.slices;
  if (over_limit(more) || more > reserved_slices_ - end ||
      first_with(true, end, end + more) != end + more || !commit_to(end + more)) {
    return false;
  }
  mark_used(end, more);
  grown.slices = static_cast<std::uint32_t>(count);
  return true;
}

void space::give(span& freed, std::size_t kept, bool clean) noexcept {
  const std::lock_guard hold{lock_};
  if (kept == 0) freed.use.store(slice_use::none, std::memory_order_relaxed);
  mark_free(index_of(freed) + kept, freed.slices - kept, clean);
  freed.slices = static_cast<std::uint32_t>(kept);
}

/// Returns: how many slices from `first` on are dirty and old enough; 0 when there are none left.
std::size_t space::next_old_run(slice_index from, std::uint8_t age,
                                slice_index& first) const noexcept {
  constexpr std::size_t most = 256; // no thread waits for more than 16 MiB being given back
  const std::size_t end = committed_slices_.load(std::memory_order_relaxed);
  const std::uint8_t now = now_.load(std::memory_order_relaxed);
  const auto old = [&](slice_index at) {
    return (dirty_[at / bits] >> (at % bits) & 1) != 0 &&
           static_cast<std::uint8_t>(now - freed_at_[at]) >= age;
  };
  for (first = from; first < end; ++first) {
    if (dirty_[first / bits] == 0) {
      first |= bits - 1; // none in this word
    } else if (old(first)) {
      break;
    }
  }
  std::size_t count = 0;
  while (first + count < end && count < most && old(first + count)) ++count;
  return count;
}

bool space::move_pages(std::byte* from, std::byte* to, std::size_t size_bytes) noexcept {
  // Each move may split two mappings in three, of which a process may have 65,530.
  constexpr std::uint32_t most_moves = 4096;
  if (moves_.load(std::memory_order_relaxed) >= most_moves) return false;
  if (!os::move_pages(from, to, size_bytes)) return false;
  moves_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool space::give_back(slice_index first, std::size_t count) noexcept {
  std::byte* const begin = address_of(first);
  const std::size_t bytes = count * slice_bytes;
  const bool mend = moves_.load(std::memory_order_relaxed) > 0;
  return (mend && os::renew(begin, bytes)) || the_page_returns.give_back(begin, bytes);
}

std::size_t space::purge(std::uint8_t age) noexcept {
  std::size_t purged = 0;
  slice_index first = 0;
  while (purge_run(first, age, purged)) {
  }
  return purged;
}

bool space::purge_run(slice_index& from, std::uint8_t age, std::size_t& purged) noexcept {
  const std::lock_guard alone{purging_};
  std::unique_lock hold{lock_};
  const std::size_t count = next_old_run(from, age, from);
  if (count == 0) {
    if (dirty_slices_.load(std::memory_order_relaxed) == 0) {
      moves_.store(0, std::memory_order_relaxed);
    }
    return false;
  }
  // Nobody else may touch them meanwhile, and nobody needs to wait.
  mark_used(from, count);
  being_purged_ = count;
  hold.unlock();
  const bool given_back = give_back(from, count);
  hold.lock();
  being_purged_ = 0;
  mark_free(from, count, given_back);
  if (given_back) purged += count * slice_bytes;
  from += count;
  return true;
}

void space::set_class(const span& of, size_class to) noexcept {
  const slice_index first = index_of(of);
  for (slice_index at = first; at < first + of.slices; ++at) {
    // Release: what is known of the span's blocks comes before (usable_bytes acquires).
    the_heap_map.classes[at].store(static_cast<std::uint8_t>(to), std::memory_order_release);
  }
}

std::size_t space::metadata_bytes() const noexcept {
  return committed_slices() * (sizeof(span) + 2) + committed_slices() / 4;
}

} // namespace heapwise::detail
