#include "heap/space/slice_map.hpp"

#include <bit>
#include <utility>

#include "os/expects.hpp"

namespace heapwise::detail {

namespace {

// A run that is at least this long is not measured: a group that has one is searched.
constexpr std::size_t most_measured = 64;

/// Returns: a bit where `count` set bits begin that lie side by side. Requires: 0 < count < 64.
slice_word begins_of_runs(slice_word bits, std::size_t count) noexcept {
  expects(0 < count && count < slices_of_a_word, "the run fits into a word");
  // Each step leaves the bits that begin a run of twice the length, and the last one of the rest.
  std::size_t length = 1;
  for (; 2 * length <= count; length *= 2) bits &= bits >> length;
  return length < count ? bits & (bits >> (count - length)) : bits;
}

} // namespace

std::size_t slice_map::bytes_for(std::size_t slices) noexcept {
  const std::size_t groups = round_up(slices, slices_of_a_group) / slices_of_a_group;
  return round_up(slices, slices_of_a_word) / 8 + groups * sizeof(group);
}

void slice_map::start(void* memory, std::size_t slices) noexcept {
  expects(reinterpret_cast<std::uintptr_t>(memory) % 8 == 0, "the tables are aligned");
  used_ = static_cast<slice_word*>(memory);
  groups_ = reinterpret_cast<group*>(used_ + round_up(slices, slices_of_a_word) / slices_of_a_word);
  slices_ = slices;
  lowest_free_ = 0;
  groups_[0].longest = unknown; // one run of all slices begins there
}

slice_index slice_map::next(bool used, slice_index from, slice_index limit) noexcept {
  const slice_word flip = used ? 0 : ~slice_word{0};
  const std::uint32_t without = used ? 0 : std::uint32_t{slices_of_a_group};
  for (slice_index at = from; at < limit;) {
    ++visited_;
    if (at % slices_of_a_group == 0 && groups_[at / slices_of_a_group].used == without) {
      at += slices_of_a_group;
      continue;
    }
    const slice_word candidates =
        (used_[at / slices_of_a_word] ^ flip) & (~slice_word{0} << (at % slices_of_a_word));
    at = at / slices_of_a_word * slices_of_a_word;
    if (candidates != 0) {
      return std::min(at + static_cast<std::size_t>(std::countr_zero(candidates)), limit);
    }
    at += slices_of_a_word;
  }
  return limit;
}

slice_index slice_map::begin_of_run(slice_index end) noexcept {
  while (end > 0) {
    ++visited_;
    if (end % slices_of_a_group == 0 && groups_[end / slices_of_a_group - 1].used == 0) {
      end -= slices_of_a_group;
      continue;
    }
    const slice_index word = (end - 1) / slices_of_a_word;
    const slice_index begin = word * slices_of_a_word;
    const slice_word used_before = used_[word] << (slices_of_a_word - (end - begin));
    const auto free_before = static_cast<std::size_t>(std::countl_zero(used_before));
    if (free_before < end - begin) return end - free_before;
    end = begin;
  }
  return 0;
}

slice_index slice_map::find(std::size_t count, std::size_t alignment, std::size_t base) noexcept {
  if (alignment > 1) return find_aligned(count, alignment, base);
  slice_index at = lowest_free_;
  while (at < slices_) {
    ++visited_;
    if (groups_[at / slices_of_a_group].longest < count) {
      at = round_up(at + 1, slices_of_a_group);
      continue;
    }
    const slice_index first = find_in_group(at, count);
    if (first != slices_) return first;
  }
  return slices_;
}

/// Returns: the lowest `count` free slices side by side that begin at or after `at` and before
/// `end`; slices() if there are none. Requires: `end` is that of the group, or slices().
slice_index slice_map::find_by_words(slice_index at, slice_index end, std::size_t count) noexcept {
  expects(end == slices_ || (end % slices_of_a_group == 0 && end - at <= slices_of_a_group),
          "a search ends with the group or the map");
  std::size_t free_before = 0; // slices right before the word
  slice_word hidden = ~(~slice_word{0} << (at % slices_of_a_word));
  for (slice_index begin = at / slices_of_a_word * slices_of_a_word; begin < end;
       begin += slices_of_a_word) {
    ++visited_;
    const slice_word used = used_[begin / slices_of_a_word] | std::exchange(hidden, 0);
    if (used == 0) {
      free_before += slices_of_a_word;
      if (free_before < count) continue;
      return begin_if_inside(begin + slices_of_a_word - free_before, count);
    }
    const auto first_used = static_cast<std::size_t>(std::countr_zero(used));
    if (free_before + first_used >= count) return begin - free_before;
    if (count < slices_of_a_word) {
      const slice_word places = begins_of_runs(~used, count);
      if (places != 0) {
        return begin_if_inside(begin + static_cast<std::size_t>(std::countr_zero(places)), count);
      }
    }
    free_before = static_cast<std::size_t>(std::countl_zero(used));
  }
  if (free_before == 0) return slices_;
  const slice_index run = round_up(end, slices_of_a_word) - free_before;
  const slice_index run_end = next(true, run, std::min(run + count, slices_));
  return run_end == run + count ? run : slices_;
}

/// Effects: `at` is behind the runs that begin in its group. Returns: as `find`.
/// Requires: no free run begins in the group before `at`.
slice_index slice_map::find_in_group(slice_index& at, std::size_t count) noexcept {
  expects(count > 0 && at < slices_, "slices of the map are searched");
  const slice_index first =
      find_by_words(at, std::min(slices_, round_up(at + 1, slices_of_a_group)), count);
  return first != slices_ ? first : measure_group(at, count);
}

/// Effects: the bound of the group is the length of its longest run, and `at` is behind its runs.
/// Returns: slices(). Requires: no run that begins in the group at or after `at` is long enough.
slice_index slice_map::measure_group(slice_index& at, std::size_t count) noexcept {
  group& searched = groups_[at / slices_of_a_group];
  const slice_index end = std::min(slices_, round_up(at + 1, slices_of_a_group));
  std::size_t longest = 0;
  while (at < end) {
    const slice_index run = next(false, at, end);
    if (run == end) break;
    const slice_index run_end = next(true, run, std::min(run + count, slices_));
    expects(run_end < run + count, "no run is long enough");
    longest = std::max(longest, run_end - run);
    at = run_end + 1;
  }
  at = std::max(at, end);
  searched.longest = static_cast<std::uint32_t>(longest);
  return slices_;
}

/// Returns: as `find`. A run may have many slices and no aligned place, so the lengths of runs do
/// not tell which groups to skip. What was seen of the alignment before does.
slice_index slice_map::find_aligned(std::size_t count, std::size_t alignment,
                                    std::size_t base) noexcept {
  const auto shift = static_cast<std::size_t>(std::countr_zero(alignment));
  aligned_bound& bound = aligned_bounds_[shift];
  alignments_in_use_ = std::max(alignments_in_use_, shift + 1);
  const bool holds = bound.count != 0 && bound.count <= count && bound.base == base;
  if (!holds) bound = {.from = 0, .count = count, .base = base};
  slice_index first_place = slices_; // the lowest place for as many slices as the bound is about
  slice_index result = slices_;
  for (slice_index at = std::max(bound.from, lowest_free_); at < slices_;) {
    const slice_index place = round_up(base + next(false, at, slices_), alignment) - base;
    if (place >= slices_ || count > slices_ - place) break;
    const slice_index end = next(true, place, place + count);
    if (end - place >= bound.count) first_place = std::min(first_place, place);
    if (end == place + count) {
      result = place;
      break;
    }
    at = end + 1;
  }
  bound.from = std::min(first_place, result);
  return result;
}

/// Effects: the bounds allow for places in the run that begins at `run`, which need some of the
/// slices from `freed` on.
void slice_map::lower_aligned_bounds(slice_index run, slice_index freed) noexcept {
  for (std::size_t shift = 0; shift < alignments_in_use_; ++shift) {
    aligned_bound& bound = aligned_bounds_[shift];
    if (bound.count == 0) continue;
    const slice_index lowest = std::max(run, freed - std::min(freed, bound.count - 1));
    // A later place in the run has fewer slices behind it.
    const slice_index place = round_up(bound.base + lowest, std::size_t{1} << shift) - bound.base;
    if (place < bound.from && bound.count <= slices_ - place && are_free(place, bound.count)) {
      bound.from = place;
    }
  }
}

/// Effects: the bound of its group allows for the run. Requires: a free run begins there.
void slice_map::raise_bound(slice_index run) noexcept {
  expects(run < slices_, "a run is in the map");
  const slice_index limit = std::min(slices_, run + most_measured);
  const std::size_t length = next(true, run, limit) - run;
  std::uint32_t& longest = groups_[run / slices_of_a_group].longest;
  longest =
      std::max(longest, length < most_measured ? static_cast<std::uint32_t>(length) : unknown);
}

void slice_map::mark_used(slice_index first, std::size_t count) noexcept {
  expects(count > 0 && first + count <= slices_, "slices of the map are marked");
  each_word(used_, first, count, [&](slice_word& word, slice_word mask) {
    expects((word & mask) == 0, "slices that become used were free");
    word |= mask;
    groups_[static_cast<std::size_t>(&word - used_) * slices_of_a_word / slices_of_a_group].used +=
        count_run(mask);
  });
  const slice_index end = first + count;
  if (first == lowest_free_) lowest_free_ = end;
  if (end < slices_) raise_bound(end); // the rest of the run begins here now
}

void slice_map::mark_free(slice_index first, std::size_t count) noexcept {
  expects(count > 0 && first + count <= slices_, "slices of the map are marked");
  each_word(used_, first, count, [&](slice_word& word, slice_word mask) {
    expects((word & mask) == mask, "slices that become free were used");
    word &= ~mask;
    groups_[static_cast<std::size_t>(&word - used_) * slices_of_a_word / slices_of_a_group].used -=
        count_run(mask);
  });
  lowest_free_ = std::min(lowest_free_, first);
  const slice_index run = begin_of_run(first);
  raise_bound(run);
  lower_aligned_bounds(run, first);
}

/// Returns: whether the count of used slices is right, and the bound is not too low.
bool slice_map::is_group_sound(std::size_t number) noexcept {
  const slice_index begin = number * slices_of_a_group;
  const slice_index end = std::min(slices_, begin + slices_of_a_group);
  std::size_t used = 0;
  for (slice_index at = begin; at < end; at += slices_of_a_word) {
    used += static_cast<std::size_t>(std::popcount(used_[at / slices_of_a_word]));
  }
  if (used != groups_[number].used) return false;
  for (slice_index at = begin; at < end;) {
    const slice_index run = next(false, at, end);
    if (run == end) break;
    const slice_index run_end = next(true, run, slices_);
    const bool begins_here = run > begin || begin_of_run(run_end) == run;
    if (begins_here && run_end - run > groups_[number].longest) return false;
    at = run_end;
  }
  return true;
}

bool slice_map::are_aligned_bounds_sound() noexcept {
  for (std::size_t shift = 0; shift < alignments_in_use_; ++shift) {
    const aligned_bound& bound = aligned_bounds_[shift];
    const std::size_t alignment = std::size_t{1} << shift;
    slice_index place = round_up(bound.base, alignment) - bound.base;
    for (; bound.count != 0 && place < bound.from; place += alignment) {
      if (bound.count <= slices_ - place && are_free(place, bound.count)) return false;
    }
  }
  return true;
}

bool slice_map::is_sound(slice_index limit) noexcept {
  const std::size_t groups = round_up(slices_, slices_of_a_group) / slices_of_a_group;
  const std::size_t groups_below = round_up(limit, slices_of_a_group) / slices_of_a_group;
  for (std::size_t each = 0; each < groups; ++each) {
    if (each < groups_below ? !is_group_sound(each) : groups_[each].used != 0) return false;
  }
  return next(false, 0, slices_) >= std::min(lowest_free_, slices_) && are_aligned_bounds_sound();
}

} // namespace heapwise::detail
