#include "heap/space/space.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "heap/base/profile.hpp"
#include "heap/base/running_options.hpp"
#include "heap/space/clearing.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit space the_space;

bool space::over_limit(std::size_t more_slices) const noexcept {
  const std::size_t used = used_slices_.load(std::memory_order_relaxed) - being_purged_;
  return used + more_slices > limit_bytes() / slice_bytes;
}

/// Returns: as slice_map::find, but the slices are usable. The slices behind them need not be.
slice_index space::find_usable(std::size_t count, std::size_t alignment,
                               std::size_t free_behind) noexcept {
  for (;;) {
    slice_index first = map_.find(count + free_behind, alignment, base_ / slice_bytes);
    if (first == reserved_slices_ && free_behind > 0) {
      first = map_.find(count, alignment, base_ / slice_bytes);
    }
    if (first == reserved_slices_ ||
        first + count <= committed_slices_.load(std::memory_order_relaxed)) {
      return first;
    }
    if (!commit_to(first + count)) return reserved_slices_;
  }
}

std::size_t space::touched_slices() const noexcept {
  expects_held(lock_);
  return used_slices_.load(std::memory_order_relaxed) +
         dirty_slices_.load(std::memory_order_relaxed);
}

space::growth space::raise_growth_limit() noexcept {
  const std::lock_guard hold{lock_};
  const std::size_t touched = touched_slices();
  const std::size_t passed = growth_limit_;
  over_growth_limit_.store(false, std::memory_order_relaxed);
  if (touched <= passed) return {};
  growth_limit_ = touched + touched / growth_part;
  return {.limit = passed * slice_bytes, .touched = touched * slice_bytes};
}

void space::lower_growth_limit(const growth& before, std::size_t purged) noexcept {
  // Higher than the one that was passed, whatever was given back. So a program whose memory goes to
  // and fro pays for a few purges and not for ever.
  const std::size_t left = before.touched - std::min(before.touched, purged);
  const std::size_t slices = std::max(before.limit, left) / slice_bytes;
  const std::lock_guard hold{lock_};
  growth_limit_ = std::min(growth_limit_, slices + slices / growth_part);
}

/// Returns: whether none of the slices was dirty.
bool space::mark_used(slice_index first, std::size_t count) noexcept {
  std::size_t were_dirty = 0;
  map_.mark_used(first, count);
  each_word(dirty_, first, count, [&](slice_word& word, slice_word mask) {
    const slice_word dirty_here = word & mask;
    if (dirty_here == 0) return;
    were_dirty +=
        dirty_here == mask ? count_run(mask) : static_cast<std::size_t>(std::popcount(dirty_here));
  });
  used_slices_.store(used_slices_.load(std::memory_order_relaxed) + count,
                     std::memory_order_relaxed);
  dirty_slices_.store(dirty_slices_.load(std::memory_order_relaxed) - were_dirty,
                      std::memory_order_relaxed);
  // Relaxed: the flag guards nothing; a thread that sees it looks again under the lock.
  if (touched_slices() > growth_limit_) over_growth_limit_.store(true, std::memory_order_relaxed);
  return were_dirty == 0;
}

void space::mark_free(slice_index first, std::size_t count, bool clean) noexcept {
  map_.mark_free(first, count);
  used_slices_.store(used_slices_.load(std::memory_order_relaxed) - count,
                     std::memory_order_relaxed);
  if (clean) {
    each_word(dirty_, first, count, [](slice_word& word, slice_word mask) { word &= ~mask; });
    return;
  }
  each_word(dirty_, first, count, [](slice_word& word, slice_word mask) {
    if ((word & mask) != mask) word |= mask; // they are mostly set since they were dirty before
  });
  std::fill_n(freed_at_ + first, count, now_.load(std::memory_order_relaxed));
  dirty_slices_.store(dirty_slices_.load(std::memory_order_relaxed) + count,
                      std::memory_order_relaxed);
}

span* space::take(std::size_t count, std::size_t alignment, bool& was_clean,
                  std::size_t free_behind) noexcept {
  std::unique_lock hold{lock_};
  if (over_limit(count)) return nullptr;
  slice_index first = find_usable(count, alignment, free_behind);
  while (first == reserved_slices_ && being_purged_ > 0) { // soon they will be there again
    hold.unlock();
    {
      const std::lock_guard wait_for_the_end{purging_};
    }
    hold.lock();
    first = find_usable(count, alignment, free_behind);
  }
  if (first == reserved_slices_) return nullptr;
  expects(first + count <= committed_slices_.load(std::memory_order_relaxed),
          "slices that are taken are usable");
  was_clean = mark_used(first, count);
  span& new_span = spans_[first];
  new_span.slices = static_cast<std::uint32_t>(count);
  new_span.pieces = 0;
  return &new_span;
}

/// Effects: `first` is the first dirty slice from there on, or `end`. Returns: how many follow it,
/// itself included; `most_at_once` at most.
std::size_t space::next_dirty_run(slice_index& first, slice_index end) noexcept {
  const auto is_dirty = [&](slice_index at) {
    return (dirty_[at / slices_of_a_word] >> (at % slices_of_a_word) & 1) != 0;
  };
  const std::lock_guard hold{lock_}; // neighbours share words
  while (first < end && !is_dirty(first)) {
    const bool none = dirty_[first / slices_of_a_word] == 0;
    first = none ? std::min(end, (first / slices_of_a_word + 1) * slices_of_a_word) : first + 1;
  }
  const slice_index limit = std::min(end, first + most_at_once);
  std::size_t count = 0;
  while (first + count < limit && is_dirty(first + count)) ++count;
  return count;
}

void space::zero(const span& taken, std::size_t bytes) noexcept {
  expects(bytes <= taken.slices * slice_bytes, "bytes of the span are cleared");
  const slice_index end = index_of(taken) + (bytes + slice_bytes - 1) / slice_bytes;
  for (slice_index at = index_of(taken); at < end;) {
    const std::size_t count = next_dirty_run(at, end);
    clear_pages(address_of(at), count * slice_bytes);
    at += count;
  }
}

bool space::extend(span& grown, std::size_t count) noexcept {
  expects(count > grown.slices, "an extended span becomes longer");
  const std::lock_guard hold{lock_};
  const slice_index end = index_of(grown) + grown.slices;
  const std::size_t more = count - grown.slices;
  if (over_limit(more) || more > reserved_slices_ - end) return false;
  while (map_.are_free(end, more)) {
    if (end + more <= committed_slices_.load(std::memory_order_relaxed)) {
      mark_used(end, more);
      grown.slices = static_cast<std::uint32_t>(count);
      return true;
    }
    if (!commit_to(end + more)) break;
  }
  return false;
}

void space::give(span& freed, std::size_t kept, bool clean) noexcept {
  expects(kept < freed.slices, "a span keeps less than it has");
  if (freed.pieces > 0) {
    const mended how =
        mend(begin_of(freed) + kept * slice_bytes, (freed.slices - kept) * slice_bytes);
    clean = clean || how == mended::fresh;
    if (how != mended::as_was && kept == 0) forget_pieces(freed);
    if (how == mended::lost) {
      if (kept == 0) return retire(freed);
      freed.slices = static_cast<std::uint32_t>(kept);
      return;
    }
  }
  if (kept == 0) freed.use.store(slice_use::none, std::memory_order_relaxed);
  const slice_index first = index_of(freed);
  const slice_index end = first + std::exchange(freed.slices, static_cast<std::uint32_t>(kept));
  for (slice_index at = first + kept; at < end; at += most_at_once) {
    const std::lock_guard hold{lock_};
    mark_free(at, std::min(most_at_once, end - at), clean);
  }
}

relocated space::relocate(span& from, span& to) noexcept {
  if (!slices_.is_reserved()) {
    return detail::relocate(from, begin_of(from), to, begin_of(to));
  }
  // Whatever the system were to unmap for a moment, another thread's mapping could come there.
  std::memcpy(begin_of(to), begin_of(from), from.large.usable_bytes);
  return relocated::copied;
}

void space::retire(span& lost) noexcept {
  expects(lost.slices > 0, "what is lost is a span");
  lost.use.store(slice_use::none, std::memory_order_relaxed);
}

void space::set_class(const span& record, size_class to) noexcept {
  const slice_index first = index_of(record);
  for (slice_index at = first; at < first + record.slices; ++at) {
    // Release: what is known of the span's blocks comes before (usable_bytes acquires).
    the_facts.map.class_of_slice(at).store(static_cast<std::uint8_t>(to),
                                           std::memory_order_release);
  }
}

bool space::is_sound() noexcept {
  const std::lock_guard hold{lock_};
  const std::size_t committed = committed_slices_.load(std::memory_order_relaxed);
  std::size_t used = 0;
  std::size_t dirty = 0;
  for (std::size_t word = 0; word * slices_of_a_word < committed; ++word) {
    const slice_word used_here = map_.used_of_word(word);
    used += static_cast<std::size_t>(std::popcount(used_here));
    dirty += static_cast<std::size_t>(std::popcount(dirty_[word] & ~used_here));
  }
  return map_.is_sound(committed) && used == used_slices_.load(std::memory_order_relaxed) &&
         dirty == dirty_slices_.load(std::memory_order_relaxed);
}

std::size_t space::metadata_bytes() const noexcept {
  return committed_slices() * (sizeof(span) + 2) + committed_slices() / 4;
}

} // namespace heapwise::detail
