// What the program asks of the collector, once it has started.
#pragma once

#include <cstddef>

#include "os/collector/world.hpp"

namespace heapwise::gc {

struct settings {
  std::size_t markers = 0;
  std::size_t free_space_divisor = 3;
  std::size_t limit_bytes = 0;
  std::size_t mark_stack_bytes = std::size_t{256} << 20;
  std::size_t concurrent_bytes = 0; // live bytes from which on a copy marks; 0: never
  int signal = os::default_signal;  // stops threads
  bool interior = false;
  bool past_end = false;         // an address one past the end counts everywhere, too
  bool register_threads = false; // at their first call
  bool find_leaks = false;
  bool debug = false;
  bool stats = false;
};

} // namespace heapwise::gc
