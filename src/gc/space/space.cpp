#include "gc/space/space.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "os/collector/copies.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"
#include "os/placement.hpp"

namespace heapwise::gc {

namespace {

// 256 GiB of addresses cost nothing; where they are limited, half of what is refused is asked for.
constexpr std::size_t most_slices = (std::size_t{1} << 38) / slice_bytes;
constexpr std::size_t fewest_slices = (std::size_t{1} << 20) / slice_bytes;
constexpr std::size_t commit_step = 64; // slices made usable at once, at least

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

constexpr std::size_t slices_of(std::size_t limit_bytes) noexcept {
  if (limit_bytes == 0) return most_slices;
  return std::max<std::size_t>(limit_bytes / slice_bytes, 1);
}

/// Returns: whether the slices that are made usable at once are whole huge pages. Those of systems
/// with larger pages take 32 or 512 MiB: too much for a heap of which a part is free.
bool huge_pages_fit() noexcept { return os::huge_page_bytes() <= commit_step * slice_bytes; }

/// Effects: makes the entries of slices usable, as the pages go.
bool commit_table(void* table, std::size_t entry_bytes, std::size_t from, std::size_t to) noexcept {
  const std::size_t page = os::page_bytes();
  const std::size_t begin = from * entry_bytes / page * page;
  return os::commit(static_cast<std::byte*>(table) + begin,
                    round_up(to * entry_bytes, page) - begin);
}

} // namespace

bool space::start(std::size_t limit_bytes, space_features features) noexcept {
  limit_to(limit_bytes);
  const std::size_t allowed = os::address_limit_bytes() / slice_bytes;
  // Of limited addresses half are left to the program.
  const std::size_t most = allowed < 2 * most_slices ? allowed / 2 : most_slices;
  for (std::size_t slices = most; slices >= fewest_slices; slices /= 2) {
    if (start_with(slices, features)) return true;
  }
  return false;
}

void space::limit_to(std::size_t limit_bytes) noexcept { limit_ = slices_of(limit_bytes); }

bool space::start_with(std::size_t slices, space_features features) noexcept {
  const bool huge_pages =
      features.huge_pages_from != space_features::no_huge_pages && huge_pages_fit();
  const std::size_t alignment = huge_pages ? os::huge_page_bytes() : slice_bytes;
  const std::size_t kinds_bytes = round_up(slices, slice_bytes);
  const std::size_t records_bytes = round_up(slices * sizeof(slice_record), slice_bytes);
  // Rounded up so that slices are aligned to their size, however many there are.
  const std::size_t marks_bytes = round_up(slices * marks_of_slice, slice_bytes);
  const std::size_t uses_bytes = features.notes_use ? marks_bytes : 0;
  const std::size_t tables_bytes =
      round_up(kinds_bytes + records_bytes + marks_bytes + uses_bytes, alignment);
  const std::size_t bytes = tables_bytes + slices * slice_bytes;
  auto* const memory = static_cast<std::byte*>(os::reserve(bytes, alignment));
  if (memory == nullptr) return false;
  if (!os::commit(memory, kinds_bytes)) {
    os::unmap(memory, bytes);
    return false;
  }
  memory_ = memory;
  memory_bytes_ = bytes;
  kinds_ = reinterpret_cast<std::atomic<kind>*>(memory);
  records_ = reinterpret_cast<slice_record*>(memory + kinds_bytes);
  marks_ = reinterpret_cast<mark*>(memory + kinds_bytes + records_bytes);
  if (features.notes_use) {
    uses_ = reinterpret_cast<mark*>(memory + kinds_bytes + records_bytes + marks_bytes);
  }
  base_ = reinterpret_cast<std::uintptr_t>(memory + tables_bytes);
  reserved_ = slices;
  top_.store(first_slice, std::memory_order_relaxed);
  // Whole huge pages.
  if (huge_pages) huge_pages_from_ = round_up(features.huge_pages_from, alignment) / slice_bytes;
  return true;
}

void space::end() noexcept {
  if (memory_ != nullptr) os::unmap(memory_, memory_bytes_);
  std::destroy_at(this);
  std::construct_at(this);
}

bool space::commit_to(std::size_t end) noexcept {
  if (end <= committed_) return true;
  const std::size_t ahead = std::max(end, committed_ + std::max(commit_step, committed_ / 8));
  // Of a huge page, all slices are usable before the first of them is touched, or it becomes small
  // pages.
  return commit_next(std::min(reserved_, round_up(ahead, commit_step))) || commit_next(end);
}

/// Effects: makes the slices up to the end usable. Returns: whether the system agreed.
bool space::commit_next(std::size_t end) noexcept {
  std::byte* const next = address_of(static_cast<slice_index>(committed_));
  const std::size_t bytes = (end - committed_) * slice_bytes;
  if (!commit_table(records_, sizeof(slice_record), committed_, end) ||
      !commit_table(marks_, marks_of_slice, committed_, end) ||
      (notes_use() && !commit_table(uses_, marks_of_slice, committed_, end)) ||
      !os::commit(next, bytes)) {
    return false;
  }
  // A system that has none takes small pages.
  const std::size_t huge_from = std::max(committed_, huge_pages_from_);
  if (huge_from < end) {
    os::prefer_huge_pages(address_of(static_cast<slice_index>(huge_from)),
                          (end - huge_from) * slice_bytes);
  }
  committed_ = end;
  return true;
}

/// Returns: where `count` slices side by side are free, or were never used; perhaps beyond the
/// range.
slice_index space::find(std::size_t count) const noexcept {
  const slice_index top = this->top();
  std::size_t run = 0;
  for (slice_index at = cursor_; at < top; ++at) {
    if (run == 0) { // to the next free one, with what the C library is fast at
      const void* const free_entry =
          std::memchr(static_cast<const void*>(kinds_ + at), 0, top - at);
      if (free_entry == nullptr) return top;
      at = static_cast<slice_index>(static_cast<const std::atomic<kind>*>(free_entry) - kinds_);
    }
    run = kind_at(at) == no_kind ? run + 1 : 0;
    if (run == count) return static_cast<slice_index>(at + 1 - count);
  }
  return static_cast<slice_index>(top - run);
}

void space::leave_marks_out_of_copies(bool yes) const noexcept {
  const std::size_t bytes = round_up(committed_ * marks_of_slice, os::page_bytes());
  os::leave_out_of_copies(static_cast<void*>(marks_), bytes, yes);
}

/// Effects: in a heap that is large, its beginning becomes huge pages as well, one at a time: what
/// a program allocates first is often a table that it looks at most.
void space::collapse_next() noexcept {
  const std::size_t slices = os::huge_page_bytes() / slice_bytes;
  std::byte* const begin = address_of(static_cast<slice_index>(small_pages_from_));
  os::prefer_huge_pages(begin, slices * slice_bytes);
  small_pages_from_ += slices;
  if (!os::collapse_pages(begin, slices * slice_bytes)) small_pages_from_ = huge_pages_from_;
}

/// Effects: if a whole huge page begins at the slice and is free, the next touch gets a fresh one.
/// After a copy of the process, what is written of a page that both have becomes small pages, each
/// copied by itself, and the next copy takes the longer. Requires: a slice that is free.
void space::renew_huge_page(slice_index first) noexcept {
  expects([&] { return kind_at(first) == no_kind; }, "the slice is free");
  const std::size_t slices = os::huge_page_bytes() / slice_bytes;
  const auto end = static_cast<slice_index>(first + slices);
  if (first % slices != 0 || end > top()) return;
  for (slice_index at = first; at < end; ++at) {
    if (kind_at(at) != no_kind || !records_[at].dirty.load(std::memory_order_relaxed)) return;
  }
  if (!os::purge(address_of(first), std::size_t{end - first} * slice_bytes)) return;
  for (slice_index at = first; at < end; ++at) {
    records_[at].dirty.store(false, std::memory_order_relaxed);
  }
}

slice_index space::take(std::size_t count, kind block_kind) noexcept {
  if (count > limit_ - std::min(limit_, used_.load(std::memory_order_relaxed))) return no_slice;
  const slice_index first = find(count);
  if (count > reserved_ - std::min<std::size_t>(reserved_, first)) return no_slice;
  const auto end = static_cast<slice_index>(first + count);
  if (!commit_to(end)) return no_slice;
  if (count == 1) cursor_ = end;
  if (huge_pages_from_ == 0) renew_huge_page(first);
  if (small_pages_from_ < huge_pages_from_ && first / 2 >= huge_pages_from_) collapse_next();
  for (slice_index at = first; at < end; ++at) {
    kinds_[at].store(at == first ? block_kind : inside_large, std::memory_order_relaxed);
    records_[at].attached.store(false, std::memory_order_relaxed);
    records_[at].taken_in = age_;
    records_[at].marked = 0;
    records_[at].slices = at == first ? static_cast<std::uint32_t>(count) : at - first;
  }
  // Whole groups of eight, which is how marks are read and written.
  std::memset(static_cast<void*>(marks_of(first)), 0, round_up(blocks_of(block_kind), 8));
  if (end > top()) top_.store(end, std::memory_order_relaxed);
  used_.store(used_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  return first;
}

void space::give(slice_index first, std::size_t count) noexcept {
  for (std::size_t each = 0; each < count; ++each) {
    kinds_[first + each].store(no_kind, std::memory_order_relaxed);
  }
  cursor_ = std::min(cursor_, first);
  used_.store(used_.load(std::memory_order_relaxed) - count, std::memory_order_relaxed);
}

std::size_t space::purge(std::size_t kept_bytes, std::size_t most_bytes) noexcept {
  const auto worth = [this](slice_index at) {
    return kind_at(at) == no_kind && record(at).dirty.load(std::memory_order_relaxed);
  };
  std::size_t dirty = 0;
  for (slice_index at = first_slice; at < top(); ++at) dirty += worth(at) ? 1 : 0;
  const std::size_t kept = kept_bytes / slice_bytes;
  const std::size_t part = most_bytes / slice_bytes;
  const std::size_t goal = std::max(kept, dirty - std::min(dirty, part));
  slice_index end = top();
  bool refused = false;
  while (dirty > goal) {
    if (!worth(end - 1)) {
      --end;
      continue;
    }
    slice_index first = end - 1;
    --dirty;
    while (dirty > goal && worth(first - 1)) {
      --first;
      --dirty;
    }
    if (os::purge(address_of(first), std::size_t{end - first} * slice_bytes)) {
      for (slice_index at = first; at < end; ++at) {
        records_[at].dirty.store(false, std::memory_order_relaxed);
      }
    } else {
      refused = true;
    }
    end = first;
    leave_huge_pages();
  }
  return refused || dirty <= kept ? 0 : (dirty - kept) * slice_bytes;
}

/// Effects: the system does not fill up what is given back of huge pages that are still in use.
/// Slices that become usable later are in huge pages again. Where copies of the process mark, all
/// slices stay so, for short pauses.
void space::leave_huge_pages() noexcept {
  if (huge_pages_from_ == 0 || huge_pages_from_ >= committed_) return;
  const std::size_t first = small_pages_from_ == 0 ? huge_pages_from_ : 0;
  os::avoid_huge_pages(address_of(static_cast<slice_index>(first)),
                       (committed_ - first) * slice_bytes);
  small_pages_from_ = huge_pages_from_ = committed_;
}

} // namespace heapwise::gc
