#include "drain/rows.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace heapwise::bench {

namespace {

template <class Number>
void append(std::vector<unsigned char>& bytes, Number number) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof number);
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

/// How many bytes the largest number needs; 0 if all are 0.
unsigned bytes_needed(std::span<const std::uint64_t> numbers) {
  std::uint64_t all = 0;
  for (const std::uint64_t each : numbers) all |= each;
  unsigned needed = 0;
  for (; all != 0; all >>= 8) ++needed;
  return needed;
}

void append_column(std::vector<unsigned char>& bytes, std::span<const std::uint64_t> numbers) {
  const unsigned needed = bytes_needed(numbers);
  bytes.push_back(static_cast<unsigned char>(needed));
  const std::size_t at = bytes.size();
  const std::size_t count = numbers.size();
  bytes.resize(at + needed * count);
  for (unsigned byte = 0; byte < needed; ++byte) {
    const std::uint64_t* from = numbers.data();
    unsigned char* to = bytes.data() + at + byte * count;
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<unsigned char>(from[i] >> 8 * byte);
  }
}

} // namespace

void rows::add(const row& next) {
  const std::uint64_t values[column_count] = {static_cast<std::uint64_t>(next.kind),
                                              next.thread,
                                              next.time,
                                              next.block,
                                              next.size,
                                              next.site,
                                              next.alignment_log};
  if (count_ == columns_[0].size()) {
    for (auto& column : columns_) column.resize(count_ + most);
  }
  for (unsigned i = 0; i < column_count; ++i) columns_[i][count_] = values[i];
  ++count_;
}

std::vector<unsigned char> rows::bytes() const {
  std::vector<unsigned char> all;
  all.reserve(std::size_t{count_} * 12 + sites_.size() * 8);
  for (const auto& column : columns_) append_column(all, {column.data(), count_});
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
