// Where the heap's addresses are, and how more of them become usable.
#include <algorithm>
#include <array>

#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/space/huge_pages.hpp"
#include "heap/space/space.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"
#include "os/placement.hpp"

namespace heapwise::detail {

namespace {

// 1 TiB of addresses costs nothing. Where they are limited and have to be reserved, a quarter of
// what is allowed is left to the rest of the program.
constexpr std::size_t most_slices = (std::size_t{1} << 40) / slice_bytes;
constexpr std::size_t fewest_slices = (std::size_t{1} << 20) / slice_bytes; // 1 MiB

// Slices made usable at once: at least this many, and this part of what there is. What is usable
// but not used counts where addresses are limited.
constexpr std::size_t commit_step = 64;
constexpr std::size_t commit_part = 32;

// A program that asks for more than the machine has learns it at once, as from other allocators,
// and is not killed while it writes. Less is not worth two more calls of the system.
constexpr std::size_t worth_asking_bytes = std::size_t{1} << 30;

// Tables grow by this many bytes at least. A page more of a table can be refused where the slices
// themselves can grow, in a process that was forked and has as many mappings as it may have. With a
// byte for each slice this much is enough for 4 GiB.
constexpr std::size_t table_step = std::size_t{64} << 10;

/// A distance between two tables is at most this part of what the slices take.
constexpr std::size_t gap_part = 64;

/// Returns: bytes to leave out in front of a table: an address in the slices does not tell where
/// the table is. 0 in profiles that have the tables side by side.
std::size_t random_gap(std::size_t slices) noexcept {
  if (!chosen_profile.scatters_tables || os::addresses_are_fixed()) return 0;
  return os::random_word() % (slices / gap_part + 1) * slice_bytes;
}

} // namespace

/// How the tables lie in front of the slices: the classes, a byte for each slice; the map of used
/// slices; a bit for each dirty one; the ages, a byte for each slice; the spans; for mixed spans a
/// byte for each granule. The first three are there from the start. Behind each of the tables that
/// grow a page is left over (growing_table).
struct space::layout {
  explicit layout(std::size_t slices) noexcept
      : slice_count{slices},
        bytes_of_a_table{round_up(slices, os::page_bytes())},
        map_begin{bytes_of_a_table},
        dirty_begin{map_begin + slice_map::bytes_for(slices)},
        bytes_at_start{round_up(dirty_begin + round_up(slices, slices_of_a_word) / 8, slice_bytes)},
        ages_begin{bytes_at_start + random_gap(slices)},
        spans_begin{behind(ages_begin + slices)},
        granule_classes_begin{behind(spans_begin + slices * sizeof(span))},
        slices_begin{behind(granule_classes_begin + slices * granules_of_a_slice)},
        bytes{slices_begin + slices * slice_bytes} {}

  /// Returns: where the next table begins.
  [[nodiscard]] std::size_t behind(std::size_t end_of_table) const noexcept {
    return round_up(end_of_table + os::page_bytes(), slice_bytes) + random_gap(slice_count);
  }

  std::size_t slice_count;
  std::size_t bytes_of_a_table;
  std::size_t map_begin;
  std::size_t dirty_begin;
  std::size_t bytes_at_start;
  std::size_t ages_begin;
  std::size_t spans_begin;
  std::size_t granule_classes_begin;
  std::size_t slices_begin;
  std::size_t bytes;
};

bool space::start() noexcept {
  const std::size_t allowed = os::address_limit_bytes() / slice_bytes;
  // The process may raise its limit. Of the addresses allowed, this costs one in 1,800.
  const std::size_t perhaps = std::min(allowed, most_slices / 16) * 16;
  if (start_quietly(std::max(perhaps, fewest_slices))) return true;
  const std::size_t most =
      refused_before_ ? fewest_slices : std::min(most_slices, allowed - allowed / 4);
  // Where addresses are scarce, smaller steps find more of them.
  const std::size_t step = most < most_slices ? 8 : 2;
  for (std::size_t slices = most; slices >= fewest_slices; slices -= slices / step) {
    if (start_reserved(slices)) return true;
  }
  refused_before_ = true;
  return false;
}

bool space::start_quietly(std::size_t slices) noexcept {
  for (int tries = 0; tries < 4; ++tries) { // something may be mapped where a table has to be
    const layout parts{slices};
    auto* const memory = static_cast<std::byte*>(os::quiet_addresses(parts.bytes, slice_bytes));
    if (memory == nullptr) return false;
    const os::placed answer = os::reserve_at(memory, parts.bytes_at_start);
    if (answer == os::placed::refused) return false;
    if (answer == os::placed::occupied) continue;
    if (start_at(memory, parts, false)) return true;
    os::unmap(memory, parts.bytes_at_start);
  }
  return false;
}

bool space::start_reserved(std::size_t slices) noexcept {
  const layout parts{slices};
  auto* const memory = static_cast<std::byte*>(os::reserve(parts.bytes, slice_bytes));
  if (memory == nullptr) return false;
  if (start_at(memory, parts, true)) return true;
  os::unmap(memory, parts.bytes);
  return false;
}

/// Requires: the addresses of what is there from the start are reserved, or, with `is_reserved`,
/// all of them.
bool space::start_at(std::byte* memory, const layout& parts, bool is_reserved) noexcept {
  // The classes are read for any address of the range, long before there are slices.
  if (!os::show(memory, parts.bytes_of_a_table) ||
      !os::commit(memory + parts.map_begin, parts.bytes_at_start - parts.map_begin)) {
    return false;
  }
  // Where the system gives huge pages unasked, the first write into a table would take one.
  os::avoid_huge_pages(memory + parts.map_begin, parts.bytes_at_start - parts.map_begin);
  map_.start(memory + parts.map_begin, parts.slice_count);
  dirty_ = reinterpret_cast<slice_word*>(memory + parts.dirty_begin);
  freed_at_ = reinterpret_cast<std::uint8_t*>(memory + parts.ages_begin);
  spans_ = reinterpret_cast<span*>(memory + parts.spans_begin);
  granule_classes_ =
      reinterpret_cast<std::atomic<std::uint8_t>*>(memory + parts.granule_classes_begin);
  tables_[0].start(memory, true);
  tables_[1].start(memory + parts.ages_begin, is_reserved);
  tables_[2].start(memory + parts.spans_begin, is_reserved);
  tables_[3].start(memory + parts.granule_classes_begin, is_reserved);
  slices_.start(memory + parts.slices_begin, is_reserved);
  reserved_slices_ = parts.slice_count;
  base_ = reinterpret_cast<std::uintptr_t>(memory + parts.slices_begin);
  expects(base_ % slice_bytes == 0, "alignment within a slice is alignment of the address");
  the_facts.map = {base_, reserved_slices_, reinterpret_cast<std::atomic<std::uint8_t>*>(memory)};
  return true;
}

/// Effects: makes more slices usable, all up to `end` unless something else is mapped among them.
/// Returns: whether there are more now, or enough.
bool space::commit_to(slice_index end) noexcept {
  const std::size_t committed = committed_slices_.load(std::memory_order_relaxed);
  if (end <= committed) return true;
  const std::size_t step = std::max(commit_step, committed / commit_part);
  for (const slice_index wanted : {std::min(reserved_slices_, committed + step), end}) {
    const std::size_t more_bytes = (wanted - committed) * slice_bytes;
    if (wanted < end || (more_bytes >= worth_asking_bytes && os::is_too_much(more_bytes)) ||
        !commit_tables(wanted)) {
      continue;
    }
    const os::placed answer = slices_.grow_to(wanted * slice_bytes);
    if (answer == os::placed::occupied && pass_over(wanted)) return true;
    if (answer != os::placed::here) continue;
    choose_pages(address_of(committed), more_bytes);
    // Release: pairs with the acquire in `record`. The tables were mapped before.
    committed_slices_.store(wanted, std::memory_order_release);
    return true;
  }
  return false;
}

bool space::commit_tables(slice_index end) noexcept {
  constexpr std::array bytes_of_a_slice{std::size_t{1}, std::size_t{1}, sizeof(span),
                                        granules_of_a_slice};
  const bool may_mix = may_mix_.load(std::memory_order_relaxed);
  for (std::size_t each = 0; each < tables_.size() - (may_mix ? 0 : 1); ++each) {
    const std::size_t all = reserved_slices_ * bytes_of_a_slice[each];
    const std::size_t wanted = std::min(round_up(end * bytes_of_a_slice[each], table_step), all);
    if (tables_[each].grow_to(wanted) != os::placed::here) return false;
  }
  return true;
}

bool space::allow_mixing() noexcept {
  // Relaxed: only the table of a span's own slice is used, and the span came from the space.
  if (may_mix_.load(std::memory_order_relaxed)) return true;
  const std::lock_guard hold{lock_};
  const std::size_t bytes = committed_slices_.load(std::memory_order_relaxed) * granules_of_a_slice;
  if (granule_classes_table().grow_to(bytes) != os::placed::here) return false;
  may_mix_.store(true, std::memory_order_relaxed);
  return true;
}

/// Effects: makes slices up to `end` usable one by one. Slices at which something else is mapped
/// count as used for ever. Returns: whether it came further. Requires: the tables reach so far.
bool space::pass_over(slice_index end) noexcept {
  const std::size_t committed = committed_slices_.load(std::memory_order_relaxed);
  slice_index at = committed;
  for (; at < end; ++at) {
    const os::placed answer = slices_.grow_to((at + 1) * slice_bytes);
    if (answer == os::placed::refused) break;
    if (answer == os::placed::here) {
      choose_pages(address_of(at), slice_bytes);
      continue;
    }
    slices_.skip(slice_bytes);
    mark_used(at, 1);
  }
  committed_slices_.store(at, std::memory_order_release); // as in commit_to
  return at > committed;
}

} // namespace heapwise::detail
