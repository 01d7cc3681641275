#include "recorder/stack_trace.hpp"

#include <unwind.h>

namespace heapwise::bench {

namespace {

struct wanted_stack {
  std::uint64_t site;
  stack_trace& found;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto& wanted = *static_cast<wanted_stack*>(argument);
  const auto address = static_cast<std::uint64_t>(_Unwind_GetIP(context));
  if (address == 0) return _URC_END_OF_STACK;
  // The frames of the recorder stand before the caller.
  if (wanted.found.count == 0 && address != wanted.site) return _URC_NO_REASON;
  wanted.found.frames[wanted.found.count++] = address;
  return wanted.found.count == stack_trace::most_frames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

} // namespace

stack_trace stack_from(std::uint64_t site) noexcept {
  stack_trace found;
  wanted_stack wanted{site, found};
  _Unwind_Backtrace(add_frame, &wanted);
  return found;
}

} // namespace heapwise::bench
