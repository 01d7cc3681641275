// Events whose addresses have become numbers, by columns, until a frame is full.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "drain/frames/byte_planes.hpp"
#include "trace/event.hpp"
#include "trace/file.hpp"

namespace heapwise::bench {

/// An event as files have it.
struct row {
  event_kind kind;
  std::uint8_t alignment_log;
  std::uint32_t thread;
  std::uint32_t site;
  std::uint64_t time;
  std::uint64_t number; ///< see column::number
  std::uint64_t more;   ///< see column::more
};

/// A stack, of the row with this number in its frame: return addresses, the caller first.
struct row_stack {
  std::uint32_t row;
  std::vector<std::uint64_t> frames;
};

class rows {
 public:
  static constexpr std::uint32_t most = 65536;

  [[nodiscard]] std::uint32_t count() const noexcept { return spread_ + pending_; }

  /// Whether rows are kept, not only counted. To be called when there is no row.
  void set_kept(bool kept) noexcept { is_kept_ = kept; }

  /// Returns whether a frame of events is full now. There may be more live blocks.
  bool add(const row& next) {
    const std::size_t at = pending_;
    times_[at] = next.time;
    numbers_[at] = next.number;
    more_[at] = next.more;
    threads_[at] = next.thread;
    row_sites_[at] = next.site;
    kinds_[at] = static_cast<std::uint8_t>(next.kind);
    alignments_[at] = next.alignment_log;
    if (++pending_ != most_pending) [[likely]]
      return false;
    spread();
    return spread_ == most;
  }
  /// `sites` are addresses; the first of them has the number `first`, the others follow.
  void set_sites(std::uint32_t first, std::vector<std::uint64_t> sites) {
    first_site_ = first;
    sites_ = std::move(sites);
  }
  void add_stack(row_stack stack) { stacks_.push_back(std::move(stack)); }

  /// The content of a frame: columns, addresses of the sites that are new in it, stacks. Valid
  /// until the next call.
  [[nodiscard]] const std::vector<unsigned char>& bytes();

  void clear();

 private:
  /// So few that all of them stay in the first cache until they are spread over the planes.
  static constexpr std::uint32_t most_pending = 512;
  template <class Number>
  using numbers_of_rows = std::array<Number, most_pending>;

  void spread();
  template <class Number>
  void spread(column which, const numbers_of_rows<Number>& numbers);
  /// Of sites and stacks, behind the columns.
  [[nodiscard]] std::size_t extra_bytes() const noexcept;

  std::uint32_t spread_ = 0; ///< rows in the planes
  std::uint32_t pending_ = 0;
  bool is_kept_ = true;
  numbers_of_rows<std::uint64_t> times_;
  numbers_of_rows<std::uint64_t> numbers_;
  numbers_of_rows<std::uint64_t> more_;
  numbers_of_rows<std::uint32_t> threads_;
  numbers_of_rows<std::uint32_t> row_sites_;
  numbers_of_rows<std::uint8_t> kinds_;
  numbers_of_rows<std::uint8_t> alignments_;
  std::array<byte_planes, column_count> columns_;
  std::uint32_t first_site_ = 0;
  std::vector<std::uint64_t> sites_;
  std::vector<row_stack> stacks_;
  std::vector<unsigned char> bytes_;
};

} // namespace heapwise::bench
