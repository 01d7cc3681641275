#include "gc/roots/stacks.hpp"
#include "gc/state/required.hpp"

#include <algorithm>
#include <cstdint>

namespace heapwise::gc {

namespace {

/// Of a stack that nobody told the collector about, at most this is looked through.
constexpr std::uintptr_t most_unknown_bytes = std::uintptr_t{8} << 20;

bool holds(os::memory_range range, const void* address) noexcept {
  return address >= range.begin && address < range.end;
}

bool on_added_stack(const void* address) noexcept {
  return std::any_of(the_gc.added_stacks.begin(), the_gc.added_stacks.end(),
                     [=](os::memory_range each) { return holds(each, address); });
}

/// Returns: the part of the thread's own stack from `lowest` on; empty if `lowest` is on another
/// stack.
os::memory_range rest_of_own_stack(os::memory_range own, const void* lowest) noexcept {
  if (holds(own, lowest)) return {lowest, own.end};
  if (lowest >= own.end) return {lowest, lowest};
  // The stack of the first thread grows beyond its begin if its limit was raised after the thread
  // was registered. Such a stack has no hole. If a coroutine's stack lies directly below, too much
  // is looked through.
  const os::memory_range readable = os::readable_tail({lowest, own.end});
  return {lowest, readable.begin == lowest ? own.end : lowest};
}

os::memory_range rest_of_unknown_stack(const void* lowest) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(lowest);
  const std::uintptr_t end = begin + std::min(most_unknown_bytes, UINTPTR_MAX - begin);
  return os::readable_head({lowest, reinterpret_cast<const void*>(end)});
}

} // namespace

void each_stack_part(const thread_record& of_thread, os::range_visitor* visit,
                     void* argument) noexcept {
  expects_lock();
  const void* const lowest = of_thread.stack_lowest;
  // The order matters: the signal stack and an added stack may lie inside of the thread's own.
  if (of_thread.signal_stack_end != nullptr) {
    visit({lowest, of_thread.signal_stack_end}, argument);
  } else if (!on_added_stack(lowest)) {
    const os::memory_range own = rest_of_own_stack(of_thread.stack, lowest);
    if (own.begin != own.end) {
      visit(own, argument);
      return;
    }
    visit(rest_of_unknown_stack(lowest), argument);
  }
  // The thread left its own stack at a frame that nobody knows.
  visit(os::readable_tail(of_thread.stack), argument);
}

} // namespace heapwise::gc
