// What a thread returned.
#pragma once

#include <cstddef>

#include "os/collector/world.hpp"

namespace heapwise::gc {

/// A cell for the result of a thread. It is a root, until the thread is joined or detached.
struct thread_result {
  std::size_t number = 0; // of the cell
  os::thread_id thread = 0;
  void* result = nullptr;
  bool is_named = false; // `thread` is known
  bool has_ended = false;
  bool is_detached = false;
};

} // namespace heapwise::gc
