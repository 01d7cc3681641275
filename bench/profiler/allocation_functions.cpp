#include "profiler/allocation_functions.hpp"

#include <array>
#include <atomic>
#include <cstddef>

#include "probe/loaded_objects.hpp"

namespace heapwise::bench {

namespace {

/// Mangled as the Itanium C++ ABI says.
struct operator_new {
  const char* name;
  event_kind kind;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  void place(const definition& own) noexcept {
    begin = reinterpret_cast<std::uintptr_t>(own.function);
    end = begin + own.bytes;
  }
};

constexpr std::size_t names = 8;
using operators = std::array<operator_new, names>;
constexpr operators all_operators{{
    {"_Znwm", event_kind::scalar_new},
    {"_ZnwmRKSt9nothrow_t", event_kind::scalar_new},
    {"_ZnwmSt11align_val_t", event_kind::scalar_new},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", event_kind::scalar_new},
    {"_Znam", event_kind::array_new},
    {"_ZnamRKSt9nothrow_t", event_kind::array_new},
    {"_ZnamSt11align_val_t", event_kind::array_new},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", event_kind::array_new},
}};
/// Those that are found first, and those of a C++ runtime, which a plug-in may have brought.
constinit operators first = all_operators;
constinit operators of_runtime = all_operators;

constinit std::atomic<bool> busy{false};
std::uint64_t looked_at = 0; ///< how many objects were loaded at the last look

/// Not by dlsym(): this may be a call of malloc in dlsym(), which would find its own error freed.
void find() noexcept {
  const std::uint64_t loaded = objects_loaded();
  if (loaded == looked_at) return;
  looked_at = loaded;
  for (operator_new& each : first) each.place(definition_anywhere(each.name));
  for (operator_new& each : of_runtime) each.place(definition_in_runtime(each.name));
}

const operator_new* function_of(std::uint64_t return_address) noexcept {
  for (const operators* const all : {&first, &of_runtime}) {
    for (const operator_new& each : *all) {
      // A return address may stand behind the last instruction of the function.
      if (return_address > each.begin && return_address <= each.end) return &each;
    }
  }
  return nullptr;
}

} // namespace

void leave_operators_new() noexcept {
  if (!busy.load(std::memory_order_relaxed)) return;
  looked_at = 0;
  busy.store(false, std::memory_order_relaxed);
}

event_kind remove_operator_new(stack_trace& stack, event_kind kind) noexcept {
  // Another thread, or the one that a signal handler has interrupted: the frames stay then.
  if (busy.exchange(true, std::memory_order_acquire)) return kind;
  find();
  int removed = 0;
  // operator new[] calls operator new. One frame has to stay.
  while (removed + 1 < stack.count) {
    const operator_new* function = function_of(stack.frames[removed]);
    if (function == nullptr) break;
    kind = function->kind;
    ++removed;
  }
  stack.count -= removed;
  for (int i = 0; i < stack.count; ++i) stack.frames[i] = stack.frames[i + removed];
  busy.store(false, std::memory_order_release);
  return kind;
}

} // namespace heapwise::bench
