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
    is_reserved_ = is_reserved;
  }

  /// Effects: makes the first `bytes` usable, zeroed. Returns: placed::here if they are; otherwise
  /// nothing changed.
  [[nodiscard]] os::placed grow_to(std::size_t bytes) noexcept {
    const std::size_t page = os::page_bytes();
    const std::size_t wanted = (bytes + page - 1) / page * page;
    if (wanted <= usable_bytes_) return os::placed::here;
    std::byte* const end = begin_ + usable_bytes_;
    const std::size_t more = wanted - usable_bytes_;
    const os::placed answer =
        !is_reserved_ ? os::map_at(end, more)
                      : (os::commit(end, more) ? os::placed::here : os::placed::refused);
    if (answer == os::placed::here) usable_bytes_ = wanted;
    return answer;
  }

  /// Effects: leaves the next bytes out: something else is there.
  void skip(std::size_t bytes) noexcept { usable_bytes_ += bytes; }

  [[nodiscard]] bool is_reserved() const noexcept { return is_reserved_; }

 private:
  std::byte* begin_ = nullptr;
  std::size_t usable_bytes_ = 0;
  bool is_reserved_ = false;
};

} // namespace heapwise::detail
