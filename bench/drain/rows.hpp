// Events whose addresses have become numbers, by columns, until a frame is full.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trace/event.hpp"
#include "trace/file.hpp"

namespace heapwise::bench {

/// An event as files have it.
struct row {
  event_kind kind;
  std::uint32_t thread;
  std::uint64_t time;
  std::uint64_t block; ///< how many blocks were made since, see column::block
  std::uint64_t size;
  std::uint32_t site;
  std::uint8_t alignment_log;
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

  void add(const row& next);
  /// `sites` are addresses; the first of them has the number `first`, the others follow.
  void set_sites(std::uint32_t first, std::vector<std::uint64_t> sites) {
    first_site_ = first;
    sites_ = std::move(sites);
  }
  void add_stack(row_stack stack) { stacks_.push_back(std::move(stack)); }

  /// The content of a frame: columns, addresses of the sites that are new in it, stacks.
  [[nodiscard]] std::vector<unsigned char> bytes() const;

  void clear();

 private:
  /// A number of each row; of live blocks there can be more than `most`.
  using numbers = std::vector<std::uint64_t>;

  std::uint32_t count_ = 0;
  numbers columns_[column_count];
  std::uint32_t first_site_ = 0;
  std::vector<std::uint64_t> sites_;
  std::vector<row_stack> stacks_;
};

} // namespace heapwise::bench
