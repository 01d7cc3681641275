#include "drain/rows.hpp"

#include <bit>
#include <cstring>

namespace heapwise::bench {

namespace {

template <class Number>
void append(std::vector<unsigned char>& bytes, Number number) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof number);
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

/// Appends the bytes of the numbers, those of equal significance together: as many of each as the
/// largest one needs.
template <class Number>
void append_column(std::vector<unsigned char>& bytes, const std::vector<Number>& numbers,
                   std::size_t count) {
  const Number* from = numbers.data();
  Number all = 0;
  for (std::size_t i = 0; i < count; ++i) all = static_cast<Number>(all | from[i]);
  const unsigned needed = (static_cast<unsigned>(std::bit_width(all)) + 7) / 8;
  bytes.push_back(static_cast<unsigned char>(needed));
  const std::size_t at = bytes.size();
  bytes.resize(at + needed * count);
  for (unsigned byte = 0; byte < needed; ++byte) {
    unsigned char* to = bytes.data() + at + byte * count;
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<unsigned char>(from[i] >> 8 * byte);
  }
}

} // namespace

void rows::grow() {
  room_ += most;
  for (auto* column : {&kinds_, &alignments_}) column->resize(room_);
  for (auto* column : {&threads_, &row_sites_}) column->resize(room_);
  for (auto* column : {&times_, &blocks_, &sizes_}) column->resize(room_);
}

const std::vector<unsigned char>& rows::bytes() {
  std::vector<unsigned char>& all = bytes_;
  all.clear();
  append_column(all, kinds_, count_);
  append_column(all, threads_, count_);
  append_column(all, times_, count_);
  append_column(all, blocks_, count_);
  append_column(all, sizes_, count_);
  append_column(all, row_sites_, count_);
  append_column(all, alignments_, count_);
  append(all, first_site_);
  append(all, static_cast<std::uint32_t>(sites_.size()));
  for (const std::uint64_t each : sites_) append(all, each);
  append(all, static_cast<std::uint32_t>(stacks_.size()));
  for (const row_stack& each : stacks_) {
    append(all, each.row);
    append(all, static_cast<std::uint32_t>(each.frames.size()));
    for (const std::uint64_t frame : each.frames) append(all, frame);
  }
  return all;
}

void rows::clear() {
  sites_.clear();
  stacks_.clear();
  count_ = 0;
}

} // namespace heapwise::bench
