// How the pages of free slices go back to the system.
#include <algorithm>
#include <mutex>

#include "heap/space/huge_pages.hpp"
#include "heap/space/page_returns.hpp"
#include "heap/space/space.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

/// Returns: how many slices from `first` on are dirty and old enough, `most_purged_at_once` at
/// most; 0 if there are none before `first`, which may not be the end yet.
std::size_t space::next_old_run(slice_index from, std::uint8_t age,
                                slice_index& first) const noexcept {
  const slice_index end =
      std::min(committed_slices_.load(std::memory_order_relaxed), from + most_searched_at_once);
  const std::uint8_t now = now_.load(std::memory_order_relaxed);
  const auto dirty_and_free = [&](slice_index at) {
    return dirty_[at / slices_of_a_word] & ~map_.used_of_word(at / slices_of_a_word);
  };
  const auto old = [&](slice_index at) {
    return (dirty_and_free(at) >> (at % slices_of_a_word) & 1) != 0 &&
           static_cast<std::uint8_t>(now - freed_at_[at]) >= age;
  };
  for (first = from; first < end; ++first) {
    if (dirty_and_free(first) == 0) {
      first |= slices_of_a_word - 1; // none in this word
    } else if (old(first)) {
      break;
    }
  }
  first = std::min(first, end); // words are passed over whole
  std::size_t count = 0;
  while (first + count < end && count < most_purged_at_once && old(first + count)) ++count;
  return count;
}

std::size_t space::purge(std::uint8_t age, std::size_t wanted) noexcept {
  std::size_t purged = 0;
  slice_index first = 0;
  while (purged * slice_bytes < wanted && purge_run(first, age, purged)) os::let_fork();
  return purged * slice_bytes;
}

/// Effects: gives back what the system takes of slices that it refused to take together: a page
/// that is locked in memory is enough for that. Returns: which were given back.
space::purged_slices space::purge_one_by_one(slice_index first, std::size_t count) noexcept {
  constexpr int patience = 8; // after this many refusals in a row the next would be refused, too
  purged_slices is_clean{};
  std::size_t low = 0;
  std::size_t high = count;
  const auto give_back = [&](std::size_t at, int& refusals) {
    is_clean[at] = purge_slices(address_of(first + at), slice_bytes);
    refusals = is_clean[at] ? 0 : refusals + 1;
    if (is_clean[at]) the_page_returns.forget_refusals();
  };
  for (int refusals = 0; low < high && refusals < patience; ++low) give_back(low, refusals);
  for (int refusals = 0; low < high && refusals < patience; --high) give_back(high - 1, refusals);
  return is_clean;
}

bool space::purge_run(slice_index& from, std::uint8_t age, std::size_t& purged) noexcept {
  const std::lock_guard alone{purging_};
  std::unique_lock hold{lock_};
  const std::size_t count = next_old_run(from, age, from);
  if (count == 0) return from < committed_slices_.load(std::memory_order_relaxed);
  // Nobody else may touch them meanwhile, and nobody needs to wait.
  mark_used(from, count);
  being_purged_ = count;
  const std::size_t granules = granule_classes_table().usable_bytes();
  hold.unlock();
  purged_slices is_clean{};
  if (the_page_returns.give_back(address_of(from), count * slice_bytes)) {
    is_clean.fill(true);
  } else if (!the_page_returns.refused()) {
    is_clean = purge_one_by_one(from, count);
  }
  purge_granule_classes(from, count, granules);
  hold.lock();
  being_purged_ = 0;
  for (std::size_t at = 0; at < count;) {
    const bool clean = is_clean[at];
    std::size_t end = at + 1;
    while (end < count && is_clean[end] == clean) ++end;
    mark_free(from + at, end - at, clean);
    // As old as before: the next pass asks again.
    const auto freed_at = static_cast<std::uint8_t>(now_.load(std::memory_order_relaxed) - age);
    if (!clean) std::fill_n(freed_at_ + from + at, end - at, freed_at);
    if (clean) purged += end - at;
    at = end;
  }
  from += count;
  return true;
}

/// Effects: gives back what was remembered of the blocks of mixed spans that these slices were. All
/// of it is no_class again.
void space::purge_granule_classes(slice_index first, std::size_t count,
                                  std::size_t usable_bytes) noexcept {
  const std::size_t page = os::page_bytes();
  const std::size_t begin = round_up(first * granules_of_a_slice, page);
  const std::size_t end =
      std::min((first + count) * granules_of_a_slice / page * page, usable_bytes);
  if (begin < end) os::purge(granule_classes_ + begin, end - begin);
}

} // namespace heapwise::detail
