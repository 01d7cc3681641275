// Functions of a C++ runtime that a library is not linked with.
#pragma once

namespace heapwise::os {

/// Returns: the function of that name which the code at `address` would call if it called it now;
/// else that of a C++ runtime in the process; nullptr if there is none. Takes the loader's lock.
[[nodiscard]] void* find_symbol_for(const void* address, const char* name) noexcept;

/// Effects: loads the usual C++ runtime. Returns: its function of that name, or nullptr.
[[nodiscard]] void* load_runtime_symbol(const char* name) noexcept;

} // namespace heapwise::os
