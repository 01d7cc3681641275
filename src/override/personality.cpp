// What the compiler calls for the `try` of catching.cpp, in a library that does not know its C++
// runtime when it is loaded: the linker puts these functions in place of those of the runtime
// (--wrap). They ask the runtime that has thrown.
#include <cstdint>

#include "os/symbols.hpp"

using std::uint64_t;

namespace {

/// How each exception begins, whichever language and runtime it is of (Itanium C++ ABI).
struct thrown {
  uint64_t exception_class;
  const void* cleanup; // a function of the runtime that has thrown
};

/// Returns: the function of that name which the runtime that has thrown would call.
template <class Function>
Function* find_of_thrower(const void* exception, const char* name) noexcept {
  const void* const code = static_cast<const thrown*>(exception)->cleanup;
  return reinterpret_cast<Function*>(heapwise::os::find_symbol_for(code, name));
}

} // namespace

extern "C" {

int __wrap___gxx_personality_v0(int version, int actions, uint64_t exception_class, void* exception,
                                void* context) {
  using personality = int(int, int, uint64_t, void*, void*);
  constexpr int go_on = 8; // _URC_CONTINUE_UNWIND
  auto* const real = find_of_thrower<personality>(exception, "__gxx_personality_v0");
  return real == nullptr ? go_on : real(version, actions, exception_class, exception, context);
}

/// Nothing reads the exception, so the catch ends at once.
void* __wrap___cxa_begin_catch(void* exception) noexcept {
  auto* const begin = find_of_thrower<void*(void*) noexcept>(exception, "__cxa_begin_catch");
  auto* const end = find_of_thrower<void()>(exception, "__cxa_end_catch");
  if (begin == nullptr || end == nullptr) return nullptr;
  begin(exception);
  end();
  return nullptr;
}

void __wrap___cxa_end_catch() {}

} // extern "C"
