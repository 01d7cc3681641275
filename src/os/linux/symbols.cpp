#include <dlfcn.h>
#include <link.h>

#include "os/symbols.hpp"

namespace heapwise::os {

namespace {

constexpr const char* usual_runtime = "libstdc++.so.6";
constexpr const char* runtimes[] = {usual_runtime, "libc++abi.so.1", "libc++.so.1"};

/// Returns: the function in a file that is loaded, or in those that it needs. `file`: nullptr
/// stands for the program, with all that every library of the process sees.
void* find_in(const char* file, const char* name) noexcept {
  void* const loaded = ::dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (loaded == nullptr) return nullptr;
  void* const function = ::dlsym(loaded, name);
  ::dlclose(loaded);
  return function;
}

/// Returns: the name by which the loader knows the file that the code is in; nullptr for the
/// program, and if nothing is known.
const char* file_of(const void* code) noexcept {
  Dl_info info{};
  link_map* map = nullptr;
  const int is_known = ::dladdr1(code, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  return is_known == 0 || map == nullptr || map->l_name[0] == 0 ? nullptr : map->l_name;
}

} // namespace

void* find_symbol_for(const void* address, const char* name) noexcept {
  // In the order of the loader: what all see, and then what only this file sees.
  if (void* const function = find_in(nullptr, name)) return function;
  if (const char* const file = file_of(address)) {
    if (void* const function = find_in(file, name)) return function;
  }
  for (const char* const each : runtimes) {
    if (void* const function = find_in(each, name)) return function;
  }
  return nullptr;
}

void* load_runtime_symbol(const char* name) noexcept {
  void* const loaded = ::dlopen(usual_runtime, RTLD_LAZY); // and it stays
  return loaded == nullptr ? nullptr : ::dlsym(loaded, name);
}

} // namespace heapwise::os
