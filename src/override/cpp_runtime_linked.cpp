// For the archive: the linker takes this file only into programs that use operators of C++.
#include "override/cpp_runtime.hpp"

namespace heapwise::detail {

std::new_handler new_handler_of(const void*) noexcept { return std::get_new_handler(); }

void throw_bad_alloc(const void*) { throw std::bad_alloc{}; }

} // namespace heapwise::detail
