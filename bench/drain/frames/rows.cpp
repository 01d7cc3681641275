#include "drain/frames/rows.hpp"

#include <cstring>
#include <span>

namespace heapwise::bench {

namespace {

/// Writes into room that is large enough.
class frame_bytes {
 public:
  explicit frame_bytes(unsigned char* room) noexcept : at_{room} {}

  template <class Number>
  void add(Number number) noexcept {
    std::memcpy(at_, &number, sizeof number);
    at_ += sizeof number;
  }

  void add(const byte_planes& column) noexcept {
    *at_ = static_cast<unsigned char>(column.width());
    at_ = column.copy_to(at_ + 1);
  }

 private:
  unsigned char* at_;
};

} // namespace

template <class Number>
void rows::spread(column which, const numbers_of_rows<Number>& numbers) {
  columns_[static_cast<unsigned>(which)].append(std::span<const Number>{numbers.data(), pending_},
                                                spread_);
}

void rows::spread() {
  if (is_kept_) {
    spread(column::kind, kinds_);
    spread(column::thread, threads_);
    spread(column::time, times_);
    spread(column::number, numbers_);
    spread(column::more, more_);
    spread(column::site, row_sites_);
    spread(column::alignment, alignments_);
  }
  spread_ += pending_;
  pending_ = 0;
}

std::size_t rows::extra_bytes() const noexcept {
  constexpr std::size_t number = sizeof(std::uint32_t);
  std::size_t bytes = 3 * number + sites_.size() * sizeof(std::uint64_t);
  for (const row_stack& each : stacks_) {
    bytes += 2 * number + each.frames.size() * sizeof(std::uint64_t);
  }
  return bytes;
}

const std::vector<unsigned char>& rows::bytes() {
  spread();
  std::size_t size = column_count + extra_bytes();
  for (const byte_planes& each : columns_) size += std::size_t{each.width()} * spread_;
  // Not cleared before: that would fill all of it with zeros each time.
  bytes_.resize(size);
  frame_bytes all{bytes_.data()};
  for (const byte_planes& each : columns_) all.add(each);
  all.add(first_site_);
  all.add(static_cast<std::uint32_t>(sites_.size()));
  for (const std::uint64_t each : sites_) all.add(each);
  all.add(static_cast<std::uint32_t>(stacks_.size()));
  for (const row_stack& each : stacks_) {
    all.add(each.row);
    all.add(static_cast<std::uint32_t>(each.frames.size()));
    for (const std::uint64_t frame : each.frames) all.add(frame);
  }
  return bytes_;
}

void rows::clear() {
  for (byte_planes& each : columns_) each.clear();
  sites_.clear();
  stacks_.clear();
  spread_ = pending_ = 0;
}

} // namespace heapwise::bench
