// Reads the ring of one thread. What takes its calls has four functions: take() and take_inlined()
// of a call; prefetch() of the address of a call that will come, and is_far(): whether that is of
// use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "drain/calls/call.hpp"
#include "drain/rings/loser_tree.hpp"
#include "trace/shared.hpp"

namespace heapwise::bench {

class ring_reader {
 public:
  /// For a thread that is new in the slot.
  void begin(const event* ring, std::uint32_t thread) {
    ring_ = ring;
    thread_ = thread;
    at_ = stamp_ = 0;
    next_order_ = no_order;
    has_parts_ = false;
    size_ = 0;
    alignment_log_ = 0;
    frames_.clear();
    sites_.assign(site_places, 0);
  }
  void leave() noexcept { ring_ = nullptr; }

  [[nodiscard]] bool has_begun() const noexcept { return ring_ != nullptr; }
  /// Whether the ring is known to have a call that was not taken.
  [[nodiscard]] bool has_next() const noexcept { return next_order_ != no_order; }
  /// call::order_of that call, or loser_tree::no_order.
  [[nodiscard]] std::uint64_t next_order() const noexcept { return next_order_; }
  /// Events before this one have been read.
  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }

  /// Looks for a call before `end`.
  void advance(std::uint64_t end, call_sites& sites) {
    for (; at_ != end; ++at_) {
      const event& each = ring_[at_ % ring_events]; // a copy would go through the stack
      if (each.kind() < event_kind::stack) [[likely]] {
        next_order_ =
            std::min(call::order_of(each.stamp_near(stamp_), each.kind()), loser_tree::most_order);
        return;
      }
      read_part(each, sites);
    }
    next_order_ = no_order;
  }

  /// Hands the next call, and those behind it that stand before `end` and up to `last_order`, to
  /// `taker`, but not more than `most`. Returns how many. Requires has_next().
  template <class Taker>
  std::size_t take(Taker& taker, std::size_t most, std::uint64_t end, std::uint64_t last_order,
                   call_sites& sites, call_stacks& stacks) {
    std::size_t count = 0;
    do {
      count += has_parts_ ? take_with_parts(taker, stacks)
                          : take_plain(taker, std::min<std::uint64_t>(most - count, end - at_),
                                       last_order >> 1);
      advance(end, sites);
    } while (count != most && has_next() && next_order_ <= last_order);
    return count;
  }

  /// Hands the next call to `taker`, for threads that call by turns. Requires has_next().
  template <class Taker>
  [[gnu::always_inline]] void take_one(Taker& taker, std::uint64_t end, call_sites& sites,
                                       call_stacks& stacks) {
    if (has_parts_) [[unlikely]] {
      take_with_parts(taker, stacks);
    } else {
      const event each = ring_[at_ % ring_events];
      stamp_ = each.stamp_near(stamp_);
      ++at_;
      if (taker.is_far()) taker.prefetch(ring_[(at_ + turns_ahead) % ring_events].address());
      taker.take_inlined(
          {stamp_, each.address(), each.size(), sites_[each.place()], thread_, 0, each.kind(), 0});
    }
    advance(end, sites);
  }

 private:
  /// Hands over the next call and those that follow, but not more than `most`, up to the first that
  /// is not one event or is not older than `stamp_limit`. Returns how many.
  template <class Taker>
  std::size_t take_plain(Taker& taker, std::uint64_t most, std::uint64_t stamp_limit) {
    // Copies: what the taker stores may be to a member, as far as the compiler knows.
    const event* const ring = ring_;
    const std::uint32_t* const sites = sites_.data();
    const std::uint32_t thread = thread_;
    const std::uint64_t last = at_ + most;
    std::uint64_t at = at_;
    std::uint64_t taken_stamp = stamp_;
    event each = ring[at % ring_events];
    std::uint64_t stamp = each.stamp_near(taken_stamp);
    do {
      // The address of an event that is not written yet is an old one, asked for in vain.
      if (taker.is_far()) taker.prefetch(ring[(at + events_ahead) % ring_events].address());
      taker.take_inlined(
          {stamp, each.address(), each.size(), sites[each.place()], thread, 0, each.kind(), 0});
      taken_stamp = stamp;
      if (++at == last) break;
      each = ring[at % ring_events];
      stamp = each.stamp_near(taken_stamp);
    } while (each.kind() < event_kind::stack && stamp < stamp_limit);
    stamp_ = taken_stamp;
    return at - std::exchange(at_, at);
  }

  /// A stack and a size belong to the next block, or to the call that was refused.
  template <class Taker>
  [[gnu::noinline]] std::size_t take_with_parts(Taker& taker, call_stacks& stacks) {
    const event each = ring_[at_++ % ring_events];
    stamp_ = each.stamp_near(stamp_);
    call next{stamp_, each.address(), each.size(), sites_[each.place()], thread_, 0, each.kind(),
              0};
    if (makes_block(next.kind) || next.kind == event_kind::failed) add_parts(next, stacks);
    taker.take(next);
    return 1;
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
        stamp_ = each.body;
        break;
      default:
        break;
    }
  }

  void add_parts(call& next, call_stacks& stacks) {
    has_parts_ = false;
    if ((size_ | alignment_log_) != 0) {
      next.size = std::exchange(size_, 0);
      next.alignment_log = std::exchange(alignment_log_, std::uint8_t{0});
    }
    if (makes_block(next.kind) && !frames_.empty()) next.stack = stacks.add(frames_);
    frames_.clear();
  }

  static constexpr std::uint64_t no_order = loser_tree::no_order;
  static constexpr std::uint64_t events_ahead = 16;
  static constexpr std::uint64_t turns_ahead = 4; ///< of each of the rings

  const event* ring_ = nullptr;
  std::uint64_t at_ = 0;
  std::uint64_t stamp_ = 0; ///< of the call before
  std::uint64_t next_order_ = no_order;
  std::uint32_t thread_ = 0;
  bool has_parts_ = false;         ///< size, alignment or stack of a call to come
  std::uint8_t alignment_log_ = 0; ///< of that call
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> frames_;
  std::vector<std::uint32_t> sites_; ///< numbers by place
};

} // namespace heapwise::bench
