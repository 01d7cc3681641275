// Blocks that were marked and not looked through yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gc/base/kinds.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

inline constexpr std::size_t most_markers = 16;

/// A block and its kind in one word: addresses of programs have 48 bits or less.
class grey {
 public:
  grey() = default;
  grey(std::uintptr_t block, kind block_kind) noexcept
      : word_{block | static_cast<std::uintptr_t>(block_kind) << kind_shift} {}

  [[nodiscard]] const void* block() const noexcept {
    return reinterpret_cast<const void*>(word_ & ((std::uintptr_t{1} << kind_shift) - 1));
  }
  [[nodiscard]] kind block_kind() const noexcept { return static_cast<kind>(word_ >> kind_shift); }
  [[nodiscard]] explicit operator bool() const noexcept { return word_ != 0; }

 private:
  static constexpr unsigned kind_shift = 56;
  std::uintptr_t word_ = 0;
};

/// Used from above by its marker, and from below for what it gives to others. Addresses are
/// reserved for the most it may hold; pages come as they are needed.
class mark_stack {
 public:
  /// The part that changes with each block: a marker keeps it in registers.
  struct ends {
    grey* top;
    grey* limit;
  };

  /// Effects: reserves `bytes`, or as much as there is. Where addresses are limited, all markers
  /// together take a quarter of them at most. Returns: whether there is room for a page at least.
  [[nodiscard]] bool start(std::size_t bytes) noexcept {
    if (first_ != nullptr) return true;
    const std::size_t page = os::page_bytes();
    const std::size_t wanted = std::min(bytes, os::address_limit_bytes() / (4 * most_markers));
    for (std::size_t pages = std::max<std::size_t>(wanted / page, 1); pages > 0; pages /= 2) {
      first_ = static_cast<grey*>(os::reserve(pages * page, page));
      if (first_ == nullptr) continue;
      reserved_ = pages * page;
      bottom_ = first_;
      at_ = {first_, first_};
      return true;
    }
    return false;
  }

  /// Effects: gives everything back, as if it had never been started. Requires: empty.
  void end() noexcept {
    expects(size() == 0, "the stack of marks is empty");
    if (first_ != nullptr) os::unmap(first_, reserved_);
    *this = {};
  }

  /// Effects: between the two, only `push` and `bottom` may be used, with the ends that are out.
  [[nodiscard]] ends take_out() const noexcept { return at_; }
  void put_back(ends at) noexcept { at_ = at; }
  [[nodiscard]] grey* bottom() const noexcept { return bottom_; }

  /// Returns: whether there was room.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool push(ends& at, grey item) noexcept {
    if (at.top == at.limit) [[unlikely]] {
      at = grown(at);
      if (at.top == at.limit) return false;
    }
    *at.top++ = item;
    return true;
  }

  [[nodiscard]] bool push(grey item) noexcept { return push(at_, item); }
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(at_.top - bottom_);
  }

  /// Effects: takes out up to `count` items that were pushed first: they lead to the most blocks.
  std::size_t take_oldest(grey* into, std::size_t count) noexcept {
    count = std::min(count, size());
    std::copy_n(bottom_, count, into);
    bottom_ += count;
    if (size() == 0) bottom_ = at_.top = first_;
    return count;
  }

  /// Effects: gives pages back that few collections need. Requires: empty.
  void shrink() noexcept {
    expects(size() == 0, "the stack of marks is empty");
    bottom_ = at_.top = first_;
    const std::size_t used = bytes(at_);
    if (used > kept_bytes) os::purge(first_ + kept_bytes / sizeof(grey), used - kept_bytes);
  }

 private:
  static constexpr std::size_t kept_bytes = std::size_t{64} << 10;

  [[nodiscard]] std::size_t bytes(ends at) const noexcept {
    return static_cast<std::size_t>(at.limit - first_) * sizeof(grey);
  }

  /// Returns: the ends with room between them, if there can be any.
  [[nodiscard]] HEAPWISE_COLD ends grown(ends at) noexcept {
    if (bottom_ != first_ && bottom_ - first_ >= (at.limit - first_) / 2) { // given away: room
      std::copy(bottom_, at.top, first_);
      at.top -= bottom_ - first_;
      bottom_ = first_;
      return at;
    }
    const std::size_t old = bytes(at);
    const std::size_t more = std::min(reserved_ - old, std::max(old, os::page_bytes()));
    if (more != 0 && os::commit(first_ + old / sizeof(grey), more)) {
      at.limit += more / sizeof(grey);
    }
    return at;
  }

  grey* first_ = nullptr;
  grey* bottom_ = nullptr;
  ends at_{};
  std::size_t reserved_ = 0;
};

} // namespace heapwise::gc
