// What no program may ask for.
#pragma once

#include <string_view>

#include "options/text.hpp"
#include "os/collector/world.hpp"

namespace heapwise::gc {

/// Effects: ends the process with a line: the name of what was called, and why it cannot be done.
[[noreturn]] inline void refuse(std::string_view called, std::string_view why) noexcept {
  detail::text line;
  line.add("heapwise: ").add(called).add(why).add("\n").write();
  os::abort();
}

} // namespace heapwise::gc
