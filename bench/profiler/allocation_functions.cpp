#include "profiler/allocation_functions.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <cstddef>

namespace heapwise::bench {

namespace {

/// Mangled as the Itanium C++ ABI says.
struct operator_new {
  const char* name;
  event_kind kind;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

constinit operator_new functions[] = {
    {"_Znwm", event_kind::scalar_new},
    {"_ZnwmRKSt9nothrow_t", event_kind::scalar_new},
    {"_ZnwmSt11align_val_t", event_kind::scalar_new},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", event_kind::scalar_new},
    {"_Znam", event_kind::array_new},
    {"_ZnamRKSt9nothrow_t", event_kind::array_new},
    {"_ZnamSt11align_val_t", event_kind::array_new},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", event_kind::array_new},
};

constinit pthread_once_t once = PTHREAD_ONCE_INIT;

void find() noexcept {
  for (operator_new& each : functions) {
    void* address = dlsym(RTLD_DEFAULT, each.name);
    Dl_info object{};
    void* symbol = nullptr;
    if (address == nullptr || dladdr1(address, &object, &symbol, RTLD_DL_SYMENT) == 0) continue;
    if (symbol == nullptr) continue;
    each.begin = reinterpret_cast<std::uintptr_t>(address);
    each.end = each.begin + static_cast<const ElfW(Sym)*>(symbol)->st_size;
  }
}

extern "C" void find_operator_new() { find(); }

const operator_new* function_of(std::uint64_t return_address) noexcept {
  for (const operator_new& each : functions) {
    // A return address may stand behind the last instruction of the function.
    if (return_address > each.begin && return_address <= each.end) return &each;
  }
  return nullptr;
}

} // namespace

event_kind remove_operator_new(stack_trace& stack, event_kind kind) noexcept {
  pthread_once(&once, find_operator_new);
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
  return kind;
}

} // namespace heapwise::bench
