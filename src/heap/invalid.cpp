#include "heap/invalid.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include "heap/options.hpp"
#include "heap/start.hpp"
#include "options/text.hpp"

namespace heapwise::detail {

namespace {

constexpr std::array<std::string_view, 5> reasons = {
    "it is not an address of this heap",      "no block starts there",
    "it is inside of a block, not its start", "it was freed before",
    "there is no block in use there",
};

} // namespace

void invalid_free(const void* address, invalid why) noexcept {
  // The first call of a process may be this one: then the options have not been read.
  static_cast<void>(start_heap());
  if (the_options.invalid_free == when_invalid::ignore) return;
  text line;
  line.add("heapwise: invalid free of ").add_address(address).add(": ");
  line.add(reasons[static_cast<std::size_t>(why)]);
  line.add(
      ". Next: run under a memory checker (valgrind, -fsanitize=address) to see who freed it; "
      "HEAPWISE_MALLOC_INVALID_FREE=warn goes on\n");
  line.write();
  if (the_options.invalid_free == when_invalid::abort) std::abort();
}

} // namespace heapwise::detail
