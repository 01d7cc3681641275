#include "drain/rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heapwise::bench {

namespace {

/// Writes a frame into room that is large enough.
class frame_bytes {
 public:
  explicit frame_bytes(unsigned char* room) noexcept : at_{room} {}

  template <class Number>
  void add(Number number) noexcept {
    std::memcpy(at_, &number, sizeof number);
    at_ += sizeof number;
  }

  /// Adds the bytes of the numbers, those of equal significance together.
  template <class Number>
  void add_column(const std::vector<Number>& numbers, std::size_t count, unsigned width) noexcept {
    const Number* from = numbers.data();
    unsigned char* to = at_; // a store to a byte may be to the member, as far as the compiler knows
    *to++ = static_cast<unsigned char>(width);
    for (unsigned byte = 0; byte < width; ++byte) {
      for (std::size_t i = 0; i < count; ++i)
        to[i] = static_cast<unsigned char>(from[i] >> 8 * byte);
      to += count;
    }
    at_ = to;
  }

 private:
  unsigned char* at_;
};

/// How many bytes the largest of the numbers needs.
template <class Number>
unsigned width_of(const std::vector<Number>& numbers, std::size_t count) noexcept {
  const Number* from = numbers.data();
  Number all = 0;
  for (std::size_t i = 0; i < count; ++i) all = static_cast<Number>(all | from[i]);
  return (static_cast<unsigned>(std::bit_width(all)) + 7) / 8;
}

} // namespace

void rows::grow() {
  // Small at first, since a process may have few calls; a frame of live blocks may pass `most`.
  room_ = room_ < most ? std::max(first_room, room_ * 4) : room_ + most;
  for (auto* column : {&kinds_, &alignments_}) column->resize(room_);
  for (auto* column : {&threads_, &row_sites_}) column->resize(room_);
  for (auto* column : {&times_, &numbers_, &more_}) column->resize(room_);
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
  const unsigned widths[column_count] = {width_of(kinds_, count_),     width_of(threads_, count_),
                                         width_of(times_, count_),     width_of(numbers_, count_),
                                         width_of(more_, count_),      width_of(row_sites_, count_),
                                         width_of(alignments_, count_)};
  std::size_t size = column_count + extra_bytes();
  for (const unsigned width : widths) size += std::size_t{width} * count_;
  // Not cleared before: that would fill all of it with zeros each time.
  bytes_.resize(size);
  frame_bytes all{bytes_.data()};
  all.add_column(kinds_, count_, widths[0]);
  all.add_column(threads_, count_, widths[1]);
  all.add_column(times_, count_, widths[2]);
  all.add_column(numbers_, count_, widths[3]);
  all.add_column(more_, count_, widths[4]);
  all.add_column(row_sites_, count_, widths[5]);
  all.add_column(alignments_, count_, widths[6]);
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
  sites_.clear();
  stacks_.clear();
  count_ = 0;
}

} // namespace heapwise::bench
