// For libheapwise-malloc.so, which is loaded into programs in C too.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "os/os.hpp"
#include "os/symbols.hpp"
#include "override/cpp_runtime.hpp"

// Nothing here is called by these names. They make a program that contains its C++ runtime show it
// to this library, if they are linked together. `__real_` stands for the name behind it (--wrap).
namespace std {
[[gnu::weak]] new_handler get_new_handler() noexcept;
[[gnu::weak]] void __throw_bad_alloc();
} // namespace std
extern "C" {
[[gnu::weak]] void* __real___cxa_begin_catch(void*) noexcept;
[[gnu::weak]] void __real___cxa_end_catch();
[[gnu::weak]] int __real___gxx_personality_v0(int, int, std::uint64_t, void*, void*);
}

namespace heapwise::detail {

namespace {

/// The linker keeps what an object refers to.
struct shown_names {
  std::new_handler (*handler)() noexcept;
  void (*thrower)();
  void* (*begin)(void*) noexcept;
  void (*end)();
  int (*personality)(int, int, std::uint64_t, void*, void*);
};
[[gnu::used]] const shown_names shown = {&std::get_new_handler, &std::__throw_bad_alloc,
                                         &__real___cxa_begin_catch, &__real___cxa_end_catch,
                                         &__real___gxx_personality_v0};

/// Effects: ends the process: nobody can throw.
[[noreturn]] void stop_without_runtime() noexcept {
  constexpr std::string_view line =
      "heapwise: operator new found no memory, and no C++ runtime that throws std::bad_alloc. "
      "Next: raise the limit of memory, or link the program with a shared libstdc++ or libc++\n";
  os::write_error(line.data(), line.size());
  std::abort();
}

} // namespace

std::new_handler new_handler_of(const void* caller) noexcept {
  auto* const get = reinterpret_cast<std::new_handler (*)() noexcept>(
      os::find_symbol_for(caller, "_ZSt15get_new_handlerv"));
  return get == nullptr ? nullptr : get();
}

void throw_bad_alloc(const void* caller) {
  constexpr const char* name = "_ZSt17__throw_bad_allocv";
  auto* thrower = reinterpret_cast<void (*)()>(os::find_symbol_for(caller, name));
  // A program may contain a runtime without this function. It catches the exceptions of others too.
  if (thrower == nullptr) thrower = reinterpret_cast<void (*)()>(os::load_runtime_symbol(name));
  if (thrower != nullptr) thrower();
  stop_without_runtime();
}

} // namespace heapwise::detail
