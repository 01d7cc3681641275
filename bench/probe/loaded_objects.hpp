// The objects that are loaded in this process, and the functions that they define. No question
// allocates, or changes what dlerror() says, as dlsym() does. A forked child that may not look at
// the objects (object_visits.hpp) finds none.
#pragma once

#include <cstdint>

namespace heapwise::bench {

/// A function in a loaded object.
struct definition {
  void* function = nullptr;
  std::uint64_t bytes = 0;
  const char* path = nullptr; ///< of the object, valid while it is loaded

  [[nodiscard]] explicit operator bool() const noexcept { return function != nullptr; }
};

/// In the object that is loaded at `base`.
[[nodiscard]] definition definition_at(std::uintptr_t base, const char* name) noexcept;

/// In a C++ runtime, which is known by the name of its file.
[[nodiscard]] definition definition_in_runtime(const char* name) noexcept;

/// In the first object that has it.
[[nodiscard]] definition definition_anywhere(const char* name) noexcept;

/// In the first object behind this library, among those that the program was started with.
[[nodiscard]] definition definition_at_start(const char* name) noexcept;

/// Where the plug-in is loaded whose definition serves a call from this address, if this library
/// did not stand before it. A plug-in that defines the function calls its own. A C++ runtime calls
/// that of the plug-in which has brought it, and which was loaded just before it. Returns 0 if
/// there is none.
[[nodiscard]] std::uintptr_t plugin_for(std::uintptr_t address, const char* name) noexcept;

/// Whether operators at `address` take their blocks from the malloc that has a function at
/// `malloc`: those of a C++ runtime do, and those of the object that has malloc.
[[nodiscard]] bool takes_from_malloc(const void* address, const void* malloc) noexcept;

/// The path of the library that holds the address, if the program may have opened it, and may
/// close it again. Else null.
[[nodiscard]] const char* path_if_opened(const void* address) noexcept;

/// How many objects were loaded so far; as it was at the last look while another thread forks, and
/// in a child that may not look.
[[nodiscard]] std::uint64_t objects_loaded() noexcept;

} // namespace heapwise::bench
