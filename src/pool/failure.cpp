#include <heapwise/detail/failure.hpp>

#include <new>

namespace heapwise::detail::inline v0_2 {

void throw_bad_alloc() { throw std::bad_alloc{}; }

void throw_bad_array_new_length() { throw std::bad_array_new_length{}; }

} // namespace heapwise::detail::inline v0_2
