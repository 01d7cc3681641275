#include "contents/contents.hpp"

#include <algorithm>
#include <cstring>

namespace heapwise::bench {

namespace {

/// A trace with a larger number is damaged: no table becomes longer.
constexpr std::uint64_t most_sites = std::uint64_t{1} << 26;
constexpr std::uint64_t most_threads = std::uint64_t{1} << 24;

/// Numbers of 4 and of 8 bytes behind the columns of a frame.
class number_reader {
 public:
  number_reader(const std::vector<unsigned char>& raw, std::size_t at) : raw_{raw}, at_{at} {}

  template <class Number>
  Number read() {
    Number result{};
    if (raw_.size() - at_ < sizeof result) throw trace_error{"sites or stacks are cut off"};
    std::memcpy(&result, raw_.data() + at_, sizeof result);
    at_ += sizeof result;
    return result;
  }

  std::vector<std::uint64_t> read_addresses(std::size_t count) {
    if ((raw_.size() - at_) / sizeof(std::uint64_t) < count) {
      throw trace_error{"sites or stacks are cut off"};
    }
    std::vector<std::uint64_t> result(count);
    if (count != 0) std::memcpy(result.data(), raw_.data() + at_, count * sizeof result[0]);
    at_ += count * sizeof(std::uint64_t);
    return result;
  }

 private:
  const std::vector<unsigned char>& raw_;
  std::size_t at_;
};

/// The rows of a frame whose live bytes are noted: evenly through it, with its first and its last.
class noted_rows {
 public:
  noted_rows(std::size_t rows, std::size_t points) : points_{std::min(rows, points)}, rows_{rows} {
    find_next();
  }

  /// Whether the next row is one. Rows come in their order.
  bool take(std::size_t row) noexcept {
    if (row != next_) return false;
    while (next_ == row) find_next();
    return true;
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  void find_next() noexcept {
    const std::size_t number = number_++;
    if (number >= points_) {
      next_ = none;
    } else if (number + 1 == points_) {
      next_ = points_ == 1 ? 0 : rows_ - 1;
    } else {
      const double step = static_cast<double>(rows_ - 1) / static_cast<double>(points_ - 1);
      next_ = static_cast<std::size_t>(static_cast<double>(number) * step);
    }
  }

  std::size_t points_;
  std::size_t rows_;
  std::size_t number_ = 0;
  std::size_t next_ = none;
};

} // namespace

trace_contents::frame_extras trace_contents::read_extras(const std::vector<unsigned char>& raw,
                                                         std::size_t at) {
  number_reader numbers{raw, at};
  frame_extras result;
  result.first_site = numbers.read<std::uint32_t>();
  result.sites = numbers.read_addresses(numbers.read<std::uint32_t>());
  for (auto stacks = numbers.read<std::uint32_t>(); stacks != 0; --stacks) {
    const auto row = numbers.read<std::uint32_t>();
    const auto depth = numbers.read<std::uint32_t>();
    result.stacks.emplace_back(row, numbers.read_addresses(depth));
  }
  return result;
}

site_contents& trace_contents::site_of(std::uint64_t number) {
  if (number >= sites_.size()) {
    if (number >= most_sites) throw trace_error{"the number of a call site is too large"};
    sites_.resize(static_cast<std::size_t>(number) + 1);
  }
  site_contents& site = sites_[static_cast<std::size_t>(number)];
  site.is_seen = true;
  return site;
}

std::uint64_t& trace_contents::thread_of(std::uint64_t number) {
  if (number >= events_of_thread_.size()) {
    if (number >= most_threads) throw trace_error{"the number of a thread is too large"};
    events_of_thread_.resize(static_cast<std::size_t>(number) + 1);
  }
  return events_of_thread_[static_cast<std::size_t>(number)];
}

void trace_contents::begin_window(const frame_header& frame,
                                  const std::vector<unsigned char>& raw) {
  frame_rows all{raw, frame.count};
  live_.clear();
  stacks_.forget_live();
  live_bytes_ = 0;
  for (site_contents& site : sites_) site.live_bytes = site.live_blocks = 0;
  std::uint64_t block = 0;
  for (std::size_t first = 0, rows = 0; (rows = all.read(first)) != 0; first += rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      block += all.at(column::number, row);
      traced_block birth;
      birth.time = frame.first_time; // when it was made is not known
      birth.size = all.at(column::more, row);
      birth.thread = static_cast<std::uint32_t>(all.at(column::thread, row));
      const std::uint64_t number = all.at(column::site, row);
      site_contents& site = site_of(number);
      birth.site = static_cast<std::uint32_t>(number);
      live_.add(block, birth);
      ++site.live_blocks;
      site.live_bytes += static_cast<std::int64_t>(birth.size);
      live_bytes_ += static_cast<std::int64_t>(birth.size);
    }
  }
  for (site_contents& site : sites_) {
    if (site.live_bytes > site.peak_bytes) {
      site.peak_bytes = site.live_bytes;
      site.peak_blocks = site.live_blocks;
    }
  }
}

void trace_contents::follow(site_contents& site, std::uint32_t number, std::uint64_t size,
                            std::int32_t blocks) {
  const auto change = static_cast<std::int64_t>(size) * blocks;
  site.live_blocks += blocks;
  site.live_bytes += change;
  if (site.live_bytes > site.peak_bytes) {
    site.peak_bytes = site.live_bytes;
    site.peak_blocks = site.live_blocks;
  }
  live_bytes_ += change;
  steps_.push_back({size, number, blocks});
}

void trace_contents::add_made(std::uint64_t block, const traced_block& birth) {
  const std::uint64_t size = birth.size;
  live_.add(block, birth);
  ++blocks_;
  bytes_ += size;
  if (size <= exact_sizes) ++sizes_[size];
  const unsigned bucket = power_bucket(size);
  ++size_buckets_[bucket];
  byte_buckets_[bucket] += size;
  size_spread_.add(size, bucket, size);
  site_contents& site = site_of(birth.site);
  ++site.count;
  site.bytes += size;
  site.smallest = std::min(site.smallest, size);
  site.largest = std::max(site.largest, size);
  if (size >= large_bytes) {
    ++site.large_count;
    site.large_bytes += size;
  }
  follow(site, birth.site, size, 1);
}

void trace_contents::add_ended(const traced_block& birth, std::uint64_t time, std::uint64_t thread,
                               event_kind kind) {
  const std::uint64_t age = time - birth.time;
  const unsigned bucket = power_bucket(age);
  const bool is_own = thread == birth.thread;
  ++ended_;
  handed_over_ += static_cast<std::uint64_t>(!is_own);
  ++lifetimes_[bucket];
  lifetime_spread_.add(age, bucket, birth.size);
  if (kind == event_kind::resize_from) resized_from_ += birth.size;
  site_contents& site = site_of(birth.site);
  ++site.ended;
  site.own_thread += static_cast<std::uint64_t>(is_own);
  site.lifetime_sum += age;
  ++site.lifetimes[bucket];
  if (birth.stack != 0) stacks_.end(birth.stack - 1, birth.size, birth.key - 1);
  follow(site, birth.site, birth.size, -1);
}

void trace_contents::take(const frame_header& frame, const std::vector<unsigned char>& raw,
                          std::size_t points) {
  frame_rows all{raw, frame.count};
  frame_extras extras = read_extras(raw, all.bytes());
  if (!extras.sites.empty()) addresses_.emplace_back(extras.first_site, std::move(extras.sites));
  if (points != 0) points_.emplace_back(frame.first_time, frame.live_bytes);
  const column size_column = version_ >= version_of_joint_column ? column::number : column::more;
  noted_rows noted{frame.count, points};
  steps_.clear();
  stacks_.begin_frame();
  highest_ = 0;
  highest_bytes_ = INT64_MIN;
  // In a recording that is told apart from the blocks that are known, as after a window.
  const std::int64_t unknown = static_cast<std::int64_t>(frame.live_bytes) - live_bytes_;
  std::uint64_t time = frame.first_time;
  std::uint64_t next_block = frame.first_block;
  std::size_t stack = 0;
  for (std::size_t first = 0, rows = 0; (rows = all.read(first)) != 0; first += rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint64_t stored_kind = all.at(column::kind, row) & 63;
      const auto kind = static_cast<event_kind>(stored_kind);
      const std::uint64_t thread = all.at(column::thread, row);
      const bool makes = makes_block(kind);
      const std::size_t place = first + row;
      std::uint32_t stack_and_one = 0;
      for (; stack < extras.stacks.size() && extras.stacks[stack].first == place; ++stack) {
        const std::uint64_t size = all.at(makes ? size_column : column::more, row);
        const std::uint64_t block = makes ? next_block : traced_stack::none;
        const std::size_t at = stacks_.add(std::move(extras.stacks[stack].second), size, block);
        stack_and_one = static_cast<std::uint32_t>(at + 1);
      }
      time += all.at(column::time, row);
      ++calls_[stored_kind];
      ++thread_of(thread);
      if (makes) {
        traced_block birth;
        const std::uint64_t size = all.at(size_column, row);
        birth.time = time;
        birth.size = size;
        birth.stack = stack_and_one;
        birth.site = static_cast<std::uint32_t>(all.at(column::site, row));
        birth.thread = static_cast<std::uint32_t>(thread);
        if (kind == event_kind::resize_to) resized_to_ += size;
        add_made(next_block++, birth);
      } else if (ends_block(kind)) {
        traced_block birth;
        if (live_.take(next_block - all.at(column::number, row), birth)) {
          add_ended(birth, time, thread, kind);
        }
      }
      if (!steps_.empty() && live_bytes_ > highest_bytes_) {
        highest_ = steps_.size();
        stacks_.mark_highest();
        highest_bytes_ = live_bytes_;
        highest_time_ = time;
      }
      if (noted.take(place)) points_.emplace_back(time, live_bytes_ + unknown);
    }
  }
  if (frame.count != 0) duration_ = time;
  keep_peak();
}

void trace_contents::keep_peak() {
  if (highest_bytes_ <= peak_bytes_) return;
  peak_bytes_ = highest_bytes_;
  peak_time_ = highest_time_;
  stacks_.keep_peak();
  at_peak_.resize(sites_.size());
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    at_peak_[i] = {sites_[i].live_blocks, sites_[i].live_bytes};
  }
  for (std::size_t i = steps_.size(); i > highest_; --i) {
    const step& later = steps_[i - 1];
    at_peak_[later.site].blocks -= later.blocks;
    at_peak_[later.site].bytes -= static_cast<std::int64_t>(later.size) * later.blocks;
  }
}

void trace_contents::end() {
  live_.visit([this](const traced_block& each) {
    site_of(each.site).lifetime_sum += duration_ - each.time;
  });
}

} // namespace heapwise::bench
