// What the heap has to know of the operators new and delete.
#pragma once

namespace heapwise::detail {

/// Returns: whether the program has replaced an operator that others are derived from. Weak, and
/// decided when the library or a static program is linked: libheapwise has no operators, and
/// neither has a program in C that is linked with the archive.
[[gnu::weak]] bool operators_are_replaced() noexcept;

} // namespace heapwise::detail
