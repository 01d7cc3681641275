// A range of addresses of which the beginning may be used, and more of it as the heap grows.
#pragma once

#include <cstddef>

#include "os/os.hpp"

namespace heapwise::detail {

/// Thread safety: none, the space has a lock.
class growing_table {
 public:
  /// `is_reserved`: the addresses are mapped already, without access; else nothing is there yet.
  void start(std::byte* begin, bool is_reserved) noexcept {
    begin_ = begin;
    usable_bytes_ = 0;
    mapped_bytes_ = 0;
    is_reserved_ = is_reserved;
  }

  /// Effects: makes the first `bytes` usable, zeroed. Returns: placed::here if they are; otherwise
  /// nothing changed.
  [[nodiscard]] os::placed grow_to(std::size_t bytes) noexcept {
    const std::size_t page = os::page_bytes();
    const std::size_t wanted = (bytes + page - 1) / page * page;
    if (wanted <= usable_bytes_) return os::placed::here;
    const os::placed answer = is_reserved_ ? commit_to(wanted) : map_to(wanted);
    if (answer == os::placed::here) usable_bytes_ = wanted;
    return answer;
  }

  /// Effects: leaves the next bytes out: something else is there.
  void skip(std::size_t bytes) noexcept {
    usable_bytes_ += bytes;
    mapped_bytes_ = usable_bytes_;
  }

  [[nodiscard]] std::size_t usable_bytes() const noexcept { return usable_bytes_; }

  [[nodiscard]] bool is_reserved() const noexcept { return is_reserved_; }

 private:
  [[nodiscard]] os::placed commit_to(std::size_t bytes) const noexcept {
    return os::commit(begin_ + usable_bytes_, bytes - usable_bytes_) ? os::placed::here
                                                                     : os::placed::refused;
  }

  /// Effects: maps the first `bytes`, and the page behind them. It is not usable yet, so the
  /// program cannot have changed it, and a mapping that cannot be made again can be extended from
  /// there.
  os::placed map_to(std::size_t bytes) noexcept {
    const std::size_t with_page = bytes + os::page_bytes();
    std::byte* const end = begin_ + mapped_bytes_;
    os::placed answer = os::map_at(end, with_page - mapped_bytes_);
    if (answer == os::placed::refused && mapped_bytes_ > usable_bytes_ &&
        os::extend_mapping(end, with_page - mapped_bytes_)) {
      answer = os::placed::here;
    }
    if (answer == os::placed::here) {
      mapped_bytes_ = with_page;
    } else if (answer == os::placed::occupied) { // perhaps at the page behind them only
      if (bytes > mapped_bytes_)
        answer = os::map_at(end, bytes - mapped_bytes_);
      else
        answer = os::placed::here;
      if (answer == os::placed::here) mapped_bytes_ = bytes;
    }
    return answer;
  }

  std::byte* begin_ = nullptr;
  std::size_t usable_bytes_ = 0;
  std::size_t mapped_bytes_ = 0; // if nothing is reserved: up to a page more than is usable
  bool is_reserved_ = false;
};

} // namespace heapwise::detail
