// The processors that a thread may run on.
#pragma once

#include <bit>
#include <climits>
#include <cstddef>

#include "os/expects.hpp"
#include "os/linux/system_call.hpp"

namespace heapwise::os {

class processor_set {
 public:
  /// Effects: asks for those of a thread; 0 is the calling one.
  void ask(long thread) noexcept {
    bytes_ = system_call(SYS_sched_getaffinity, thread, sizeof bits_, bits_).value();
  }

  /// Effects: the calling thread may run on these alone. Requires: is_known().
  void apply() const noexcept {
    expects(is_known(), "the processors are known");
    constexpr long itself = 0;
    system_call(SYS_sched_setaffinity, itself, bytes_, bits_);
  }

  [[nodiscard]] bool is_known() const noexcept { return bytes_ > 0; }

  /// Returns: how many there are; 0 if they are not known.
  [[nodiscard]] std::size_t count() const noexcept {
    std::size_t total = 0;
    for (std::size_t each = 0; each < words(); ++each) {
      total += static_cast<std::size_t>(std::popcount(bits_[each]));
    }
    return total;
  }

  [[nodiscard]] bool operator==(const processor_set& other) const noexcept {
    bool same = bytes_ == other.bytes_;
    for (std::size_t each = 0; same && each < words(); ++each) {
      same = bits_[each] == other.bits_[each];
    }
    return same;
  }

 private:
  [[nodiscard]] std::size_t words() const noexcept {
    return is_known() ? static_cast<std::size_t>(bytes_) / sizeof bits_[0] : 0;
  }

  // As many as the kernel can be built for.
  unsigned long bits_[8192 / CHAR_BIT / sizeof(unsigned long)]{};
  long bytes_ = 0; // an error is below 0
};

} // namespace heapwise::os
