#include "heap/expects.hpp"

#include <cstddef>
#include <cstdlib>

#include "options/text.hpp"

namespace heapwise::detail {

void fail_expectation(const char* condition, const char* file, int line) noexcept {
  text message;
  message.add("heapwise: an invariant of the heap does not hold: ").add(condition).add(" (");
  message.add(file).add(":").add(static_cast<std::size_t>(line)).add(")\n");
  message.write();
  std::abort();
}

} // namespace heapwise::detail
