// What a program has to hear, or its user.
#pragma once

#include <algorithm>
#include <array>

#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "options/text.hpp"

namespace heapwise::gc {

/// Effects: the line goes to the program's own function, or to standard error. Requires: the lock.
inline void warn(const detail::text& line) noexcept {
  expects_lock();
  if (the_gc.warning == nullptr) {
    line.write();
    return;
  }
  std::array<char, detail::text::most_bytes + 1> copy{};
  std::copy_n(line.view().data(), line.view().size(), copy.data());
  the_gc.warning(copy.data(), the_gc.warning_argument);
}

} // namespace heapwise::gc
