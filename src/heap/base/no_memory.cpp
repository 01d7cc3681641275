#include "heap/base/no_memory.hpp"

#include <cerrno>
#include <cstdlib>

#include "heap/base/options.hpp"
#include "options/text.hpp"

namespace heapwise::detail {

void* no_memory() noexcept {
  if (the_options.abort_without_memory) {
    text line;
    line.add(
        "heapwise: no memory. Next: raise the limit, or HEAPWISE_MALLOC_OUT_OF_MEMORY=null lets "
        "the program handle it\n");
    line.write();
    std::abort();
  }
  errno = ENOMEM;
  return nullptr;
}

} // namespace heapwise::detail
