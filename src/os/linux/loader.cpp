// Requests of the heap to the loader. Not part of memory.cpp: a program that is linked statically
// has no loader.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

#include "os/linux/errno_keeper.hpp"
#include "os/os.hpp"
#include "os/reports/faults.hpp"

// Weak, and by version: nothing of the loader comes into a program that is linked statically, and
// the linker does not warn of it.
// Not dlopen: the shared library has a function of that name, and the linker would leave a hole in
// its table of symbols.
#pragma weak dladdr
#pragma weak dlsym
__asm__(".symver dlsym, dlsym@GLIBC_2.34");

namespace heapwise::os {

// The linker puts it where the code is, if that is loaded dynamically.
extern const ElfW(Dyn) own_dynamic_section[] __asm__("_DYNAMIC")
    __attribute__((weak, visibility("hidden")));
// So it does with this: the begin of the library or program.
extern const ElfW(Ehdr) own_begin[] __asm__("__ehdr_start")
    __attribute__((weak, visibility("hidden")));

namespace {

/// Returns: whether this code can be unloaded.
bool is_unloadable() noexcept {
  if (own_dynamic_section == nullptr) return false;
  for (const auto* each = own_dynamic_section; each->d_tag != DT_NULL; ++each) {
    const bool is_program = each->d_tag == DT_DEBUG;
    const bool stays =
        each->d_tag == DT_FLAGS_1 && (each->d_un.d_val & (DF_1_NODELETE | DF_1_PIE)) != 0;
    if (is_program || stays) return false;
  }
  return true;
}

/// Returns: the name that the linker gave to the shared library that this code is in; empty if it
/// is in a program.
std::string_view own_name() noexcept {
  if (own_dynamic_section == nullptr) return {};
  std::uintptr_t strings = 0;
  std::uintptr_t name = 0;
  for (const auto* each = own_dynamic_section; each->d_tag != DT_NULL; ++each) {
    if (each->d_tag == DT_STRTAB) strings = each->d_un.d_ptr;
    if (each->d_tag == DT_SONAME) name = each->d_un.d_val;
  }
  if (strings == 0 || name == 0) return {};
  // A loader may leave addresses in this section as the linker wrote them.
  const auto begin = reinterpret_cast<std::uintptr_t>(own_begin);
  return reinterpret_cast<const char*>((strings < begin ? begin : 0) + strings + name);
}

} // namespace

address_range own_code() noexcept {
  // In another library or in a program there is also code of others.
  if (!own_name().starts_with("libheapwise-malloc")) return {};
  const auto* const begin = reinterpret_cast<const std::byte*>(own_begin);
  const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(begin + own_begin->e_phoff);
  for (const ElfW(Phdr)* each = segments; each != segments + own_begin->e_phnum; ++each) {
    if (each->p_type != PT_LOAD || (each->p_flags & PF_X) == 0) continue;
    return {.begin = begin + each->p_vaddr, .end = begin + each->p_vaddr + each->p_memsz};
  }
  return {};
}

void* loaded_function(const char* name) noexcept {
  const errno_keeper keep;
  return dlsym == nullptr ? nullptr : ::dlsym(RTLD_DEFAULT, name);
}

void keep_loaded() noexcept {
  const errno_keeper keep;
  if (!is_unloadable() || dladdr == nullptr || dlsym == nullptr) return;
  Dl_info info{};
  if (::dladdr(own_dynamic_section, &info) == 0 || info.dli_fname == nullptr) return;
  auto* const open = reinterpret_cast<decltype(&::dlopen)>(::dlsym(RTLD_DEFAULT, "dlopen"));
  if (open != nullptr) open(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

} // namespace heapwise::os
