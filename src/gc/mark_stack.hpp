// Blocks that were marked and not looked through yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gc/kinds.hpp"
#include "heapwise/detail/config.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

/// A block and its kind in one word: addresses of programs have 48 bits or less.
class grey {
 public:
  grey() = default;
  grey(std::uintptr_t block, kind of) noexcept
      : word_{block | static_cast<std::uintptr_t>(of) << kind_shift} {}

  [[nodiscard]] const void* block() const noexcept {
    return reinterpret_cast<const void*>(word_ & ((std::uintptr_t{1} << kind_shift) - 1));
  }
  [[nodiscard]] kind of() const noexcept { return static_cast<kind>(word_ >> kind_shift); }
  [[nodiscard]] explicit operator bool() const noexcept { return word_ != 0; }

 private:
  static constexpr unsigned kind_shift = 56;
  std::uintptr_t word_ = 0;
};

/// Used from above by its marker, and from below for what it gives to others. Addresses are
/// reserved for the most it may hold; pages come as they are needed.
class mark_stack {
 public:
  [[nodiscard]] bool start(std::size_t bytes) noexcept {
    if (first_ != nullptr) return true;
    reserved_ = std::max(bytes / os::page_bytes(), std::size_t{1}) * os::page_bytes();
    first_ = static_cast<grey*>(os::reserve(reserved_, os::page_bytes()));
    if (first_ == nullptr) return false;
    bottom_ = top_ = limit_ = first_;
    return true;
  }

  /// Returns: whether there was room.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool push(grey item) noexcept {
    if (top_ == limit_ && !grow()) [[unlikely]]
      return false;
    *top_++ = item;
    return true;
  }
  [[nodiscard]] bool empty() const noexcept { return top_ == bottom_; }
  [[nodiscard]] grey pop() noexcept { return *--top_; }
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(top_ - bottom_);
  }

  /// Effects: takes out up to `count` items that were pushed first: they lead to the most blocks.
  std::size_t take_oldest(grey* into, std::size_t count) noexcept {
    count = std::min(count, size());
    std::copy_n(bottom_, count, into);
    bottom_ += count;
    if (empty()) bottom_ = top_ = first_;
    return count;
  }

  /// Effects: gives pages back that few collections need. Requires: empty.
  void shrink() noexcept {
    bottom_ = top_ = first_;
    const std::size_t used = bytes();
    if (used > kept_bytes) os::purge(first_ + kept_bytes / sizeof(grey), used - kept_bytes);
  }

 private:
  static constexpr std::size_t kept_bytes = std::size_t{64} << 10;

  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(limit_ - first_) * sizeof(grey);
  }

  HEAPWISE_COLD bool grow() noexcept {
    if (bottom_ - first_ > (limit_ - first_) / 2) { // what was given away has left room
      std::copy(bottom_, top_, first_);
      top_ -= bottom_ - first_;
      bottom_ = first_;
      return true;
    }
    const std::size_t old = bytes();
    const std::size_t more = std::min(reserved_ - old, std::max(old, os::page_bytes()));
    if (more == 0 || !os::commit(first_ + old / sizeof(grey), more)) return false;
    limit_ += more / sizeof(grey);
    return true;
  }

  grey* first_ = nullptr;
  grey* bottom_ = nullptr;
  grey* top_ = nullptr;
  grey* limit_ = nullptr;
  std::size_t reserved_ = 0;
};

} // namespace heapwise::gc
