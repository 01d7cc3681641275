// Events whose addresses have become numbers, by columns, until a frame is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] bool full() const noexcept { return count_ == most; }

  void add(const row& next) {
    if (count_ == room_) [[unlikely]]
      grow();
    const std::size_t at = count_++;
    times_[at] = next.time;
    numbers_[at] = next.number;
    more_[at] = next.more;
    threads_[at] = next.thread;
    row_sites_[at] = next.site;
    // Bytes last: a store to one may be to anything, as far as the compiler knows.
    kinds_[at] = static_cast<std::uint8_t>(next.kind);
    alignments_[at] = next.alignment_log;
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
  static constexpr std::uint32_t first_room = 1024;

  void grow();
  /// Of sites and stacks, behind the columns.
  [[nodiscard]] std::size_t extra_bytes() const noexcept;

  std::uint32_t count_ = 0;
  std::uint32_t room_ = 0; ///< of live blocks there can be more than `most`
  std::vector<std::uint8_t> kinds_;
  std::vector<std::uint8_t> alignments_;
  std::vector<std::uint32_t> threads_;
  std::vector<std::uint32_t> row_sites_;
  std::vector<std::uint64_t> times_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::uint64_t> more_;
  std::uint32_t first_site_ = 0;
  std::vector<std::uint64_t> sites_;
  std::vector<row_stack> stacks_;
  std::vector<unsigned char> bytes_;
};

} // namespace heapwise::bench
