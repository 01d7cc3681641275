// An event of a ring as the resolver takes it, and what belongs to it by number.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/event.hpp"

namespace heapwise::bench {

struct call {
  std::uint64_t stamp;
  std::uint64_t address;
  std::uint64_t size;
  std::uint32_t site;   ///< its number
  std::uint32_t thread; ///< from 0, in the order of first events
  std::uint32_t stack;  ///< see call_stacks; 0: none
  event_kind kind;
  std::uint8_t alignment_log;

  /// What calls are merged by. Of equal stamps the end of a block comes first: coarse clocks stamp
  /// many events alike.
  [[nodiscard]] static std::uint64_t order_of(std::uint64_t stamp, event_kind kind) noexcept {
    return stamp << 1 | (ends_block(kind) ? 0 : 1);
  }
};

/// Return addresses, with numbers in the order of their first use.
class call_sites {
 public:
  [[nodiscard]] std::uint32_t number_of(std::uint64_t address) {
    const auto [entry, is_new] =
        numbers_.try_emplace(address, static_cast<std::uint32_t>(addresses_.size()));
    if (is_new) addresses_.push_back(address);
    return entry->second;
  }

  [[nodiscard]] const std::vector<std::uint64_t>& addresses() const noexcept { return addresses_; }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<std::uint64_t> addresses_;
};

/// Stacks on their way from a ring to a row.
class call_stacks {
 public:
  [[nodiscard]] std::uint32_t add(std::vector<std::uint64_t> frames) {
    if (++last_ == 0) ++last_;
    waiting_[last_] = std::move(frames);
    return last_;
  }

  [[nodiscard]] std::vector<std::uint64_t> take(std::uint32_t number) {
    const auto entry = waiting_.find(number);
    std::vector<std::uint64_t> frames = std::move(entry->second);
    waiting_.erase(entry);
    return frames;
  }

 private:
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> waiting_;
  std::uint32_t last_ = 0;
};

} // namespace heapwise::bench
