// Where the thread-local variables of other threads are. A thread gets memory for those of a
// library that was loaded while the program runs when it uses one for the first time, without a
// word to anybody: only the loader's table of that thread tells. The functions here keep errno.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/collector/world.hpp"

namespace heapwise::os {

/// Where the loader keeps its tables. The GNU C library describes that to debuggers; without a
/// description (a program that is linked statically has none) only the variables of the program
/// itself are found, which is all that such a program has.
struct loader_layout {
  bool known = false;
  const std::byte* libraries = nullptr; // holds the address of the first list of libraries
  std::size_t list_length = 0;          // in a list
  std::size_t list_next = 0;
  std::size_t list_entries = 0;
  std::size_t entry_bytes = 0;
  std::size_t entry_generation = 0; // in an entry for a library
  std::size_t entry_map = 0;
  std::size_t map_module = 0; // in the map of a library
  std::size_t map_offset = 0;
  std::size_t thread_table = 0; // in the descriptor of a thread
  // Every thread has the variables of the C library, in the same place after its descriptor.
  std::size_t known_module = 0;
  std::ptrdiff_t known_distance = 0;
  std::ptrdiff_t first_distance = 0; // of variables with the offset 0
};

/// Returns: how this process's loader keeps its tables. Takes locks of the loader. Requires: no
/// lock that somebody takes while a library is loaded.
[[nodiscard]] loader_layout describe_loader() noexcept;

/// The thread-local variables of the program or of a library.
struct thread_variables {
  std::size_t module = 0; // the number of their slot in each table; 0: there are none
  std::size_t bytes = 0;
  bool fixed = false;          // in every thread from its start, in the same place:
  std::ptrdiff_t distance = 0; // from the thread's descriptor. Else tables tell:
  std::size_t generation = 0;  // those that are older do not know of the library
};

/// The loader's table of one thread. Requires: the thread stands still, or is the calling one.
class thread_table {
 public:
  /// Returns: false when the thread was stopped while it replaced its table. It has to run on then.
  [[nodiscard]] bool read(const loader_layout& layout, thread_id thread) noexcept;

  /// Returns: the thread's variables; an empty range when it did not use any of them yet.
  [[nodiscard]] memory_range find(const thread_variables& of_library) const noexcept;

 private:
  const std::byte* descriptor_ = nullptr;
  const std::byte* slots_ = nullptr;
  std::size_t length_ = 0;
  std::size_t generation_ = 0;
};

/// Effects: calls `visit` for the thread-local variables of the program and of every library that
/// is loaded now. Requires: called by the body of while_nothing_is_loaded.
using variables_visitor = void(const thread_variables& of_library, void* argument);
void each_thread_variables(const loader_layout& layout, variables_visitor* visit,
                           void* argument) noexcept;

} // namespace heapwise::os
