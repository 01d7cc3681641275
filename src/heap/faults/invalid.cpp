#include "heap/base/invalid.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include "heap/base/options.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/faults/fault_report.hpp"
#include "options/text.hpp"

namespace heapwise::detail {

namespace {

constexpr std::array<std::string_view, 10> reasons = {
    "it is not an address of this heap",      "no block starts there",
    "it is inside of a block, not its start", "it was freed before",
    "there is no block in use there",         "it was made with another size",
    "the bytes behind it were overwritten",   "it was written to after it was freed",
    "it was used after it was freed",         "it is outside of the block",
};

} // namespace

void invalid_free(const void* address, invalid why) noexcept {
  // The first call of a process may be this one: then the options have not been read.
  static_cast<void>(start_heap());
  const bool may_go_on = !chosen_profile.keeps_states;
  if (may_go_on && the_options.invalid_free == when_invalid::ignore) return;
  text line;
  const bool is_free = why <= invalid::wrong_size;
  line.add("heapwise: invalid ")
      .add(is_free ? "free" : "use")
      .add(" of ")
      .add_address(address)
      .add(": ");
  line.add(reasons[static_cast<std::size_t>(why)]);
  if (why == invalid::foreign) {
    line.add(
        ". It may be of another allocator: of a library with its own malloc, or one that was "
        "loaded "
        "with RTLD_DEEPBIND");
  }
  line.add(". Next: run under a memory checker (valgrind, -fsanitize=address) to see who freed it");
  line.add(may_go_on ? "; HEAPWISE_MALLOC_INVALID_FREE=warn goes on\n" : "\n");
  line.write();
  const fault_report fault = describe_fault(address, why);
  if constexpr (chosen_profile.keeps_states) write_lines(fault);
  if (the_options.report[0] != 0) write_json(fault, the_options.report);
  if (!may_go_on || the_options.invalid_free == when_invalid::abort) std::abort();
}

void end_by_fault(const void* address, invalid why) noexcept {
  invalid_free(address, why);
  std::abort();
}

} // namespace heapwise::detail
