// Requests of the heap to the loader. Not part of linux.cpp: a program that is linked statically
// has no loader.
#include <dlfcn.h>
#include <link.h>

#include "os/errno_keeper.hpp"
#include "os/os.hpp"

// Weak, and by version: nothing of the loader comes into a program that is linked statically, and
// the linker does not warn of it.
#pragma weak dladdr
#pragma weak dlopen
__asm__(".symver dlopen, dlopen@GLIBC_2.34");

namespace heapwise::os {

// The linker puts it where the code is, if that is loaded dynamically.
extern const ElfW(Dyn) own_dynamic_section[] __asm__("_DYNAMIC")
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

} // namespace

void keep_loaded() noexcept {
  const errno_keeper keep;
  if (!is_unloadable() || dladdr == nullptr || dlopen == nullptr) return;
  Dl_info info{};
  if (::dladdr(own_dynamic_section, &info) == 0 || info.dli_fname == nullptr) return;
  ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

} // namespace heapwise::os
