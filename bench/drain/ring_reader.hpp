// Reads the ring of one thread, one call ahead. What takes its calls has three functions: take()
// and take_inlined() of a call, and prefetch() of the address of a call that will come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "drain/call.hpp"
#include "trace/shared.hpp"

namespace heapwise::bench {

class ring_reader {
 public:
  /// For a thread that is new in the slot.
  void begin(const event* ring, std::uint32_t thread) {
    ring_ = ring;
    next_ = {};
    next_.thread = thread;
    at_ = 0;
    has_next_ = has_parts_ = false;
    size_ = 0;
    alignment_log_ = 0;
    frames_.clear();
    sites_.assign(site_places, 0);
  }
  void leave() noexcept { ring_ = nullptr; }

  [[nodiscard]] bool has_begun() const noexcept { return ring_ != nullptr; }
  [[nodiscard]] bool has_next() const noexcept { return has_next_; }
  [[nodiscard]] const call& next() const noexcept { return next_; }
  /// Events before this one have been read.
  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }

  /// Reads the first call, if the ring has one before `end`.
  void advance(std::uint64_t end, call_sites& sites, call_stacks& stacks) {
    has_next_ = false;
    while (at_ != end && !has_next_) has_next_ = read(ring_[at_++ % ring_events], sites, stacks);
  }

  /// Hands next() and the calls behind it that stand before `end` and up to `last_order` to
  /// `taker`, but not more than `most`. Returns how many. Requires has_next().
  template <class Taker>
  std::size_t take(Taker& taker, std::size_t most, std::uint64_t end, std::uint64_t last_order,
                   call_sites& sites, call_stacks& stacks) {
    std::size_t count = 0;
    do {
      taker.take(next_);
      ++count;
      count += take_plain(taker, most - count, end, last_order >> 1);
      advance(end, sites, stacks);
    } while (count != most && has_next_ && next_.order() <= last_order);
    return count;
  }

 private:
  /// Hands over the calls that come next, up to the first that is not one event or is not older
  /// than `stamp_limit`. Returns how many.
  template <class Taker>
  std::size_t take_plain(Taker& taker, std::size_t most, std::uint64_t end,
                         std::uint64_t stamp_limit) {
    if (has_parts_) return 0;
    // Copies: what the taker stores may be to a member, as far as the compiler knows.
    const event* const ring = ring_;
    const std::uint32_t* const sites = sites_.data();
    const std::uint32_t thread = next_.thread;
    const std::uint64_t first = at_;
    const std::uint64_t last = first + std::min<std::uint64_t>(most, end - first);
    std::uint64_t stamp = next_.stamp;
    std::uint64_t at = first;
    for (; at != last; ++at) {
      const event each = ring[at % ring_events];
      const std::uint64_t next = each.stamp_near(stamp);
      if (each.kind() >= event_kind::stack || next >= stamp_limit) [[unlikely]]
        break;
      stamp = next;
      // Of an event that the thread has not written yet the address is an old one, which is asked
      // for in vain.
      taker.prefetch(ring[(at + events_ahead) % ring_events].address());
      taker.take_inlined(
          {next, each.address(), each.size(), sites[each.place()], thread, 0, each.kind(), 0});
    }
    at_ = at;
    next_.stamp = stamp;
    return at - first;
  }

  /// Returns whether the event is a call, not what belongs to one.
  bool read(const event& each, call_sites& sites, call_stacks& stacks) {
    const event_kind kind = each.kind();
    if (kind >= event_kind::stack) [[unlikely]] {
      read_part(each, sites);
      return false;
    }
    next_.stamp = each.stamp_near(next_.stamp);
    next_.address = each.address();
    next_.size = each.size();
    next_.site = sites_[each.place()];
    next_.kind = kind;
    next_.alignment_log = 0;
    next_.stack = 0;
    if (has_parts_) [[unlikely]]
      add_parts(stacks);
    return true;
  }

  [[gnu::noinline]] void read_part(const event& each, call_sites& sites) {
    switch (each.kind()) {
      case event_kind::stack:
        frames_.push_back(each.address());
        if (each.place() > 1) frames_.push_back(each.body);
        has_parts_ = true;
        break;
      case event_kind::site:
        sites_[each.place()] = sites.number_of(each.address());
        break;
      case event_kind::wide:
        size_ = each.body;
        alignment_log_ = static_cast<std::uint8_t>(each.place());
        has_parts_ = true;
        break;
      case event_kind::stamp:
        next_.stamp = each.body;
        break;
      default:
        break;
    }
  }

  /// A stack and a size belong to the next block, or to the call that was refused.
  [[gnu::noinline]] void add_parts(call_stacks& stacks) {
    if (!makes_block(next_.kind) && next_.kind != event_kind::failed) return;
    has_parts_ = false;
    if ((size_ | alignment_log_) != 0) {
      next_.size = std::exchange(size_, 0);
      next_.alignment_log = std::exchange(alignment_log_, std::uint8_t{0});
    }
    if (makes_block(next_.kind) && !frames_.empty()) next_.stack = stacks.add(frames_);
    frames_.clear();
  }

  static constexpr std::uint64_t events_ahead = 16;

  const event* ring_ = nullptr;
  call next_{};
  std::uint64_t at_ = 0;
  bool has_next_ = false;
  bool has_parts_ = false;         ///< size, alignment or stack of a call to come
  std::uint8_t alignment_log_ = 0; ///< of that call
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> frames_;
  std::vector<std::uint32_t> sites_; ///< numbers by place
};

} // namespace heapwise::bench
