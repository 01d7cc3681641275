// Plug-ins that a program opens with RTLD_DEEPBIND, as PHP opens its extensions.
//
// Such a plug-in finds the C library's malloc and free before those of this library, while the C
// library itself, and all others, use ours. The first block that goes from one to the other ends
// the process: each string of strdup that the plug-in frees. So the flag is taken away, unless the
// option DEEP_BINDING keeps it. Only the shared library has this: nobody preloads an archive.
#include <atomic>

#include <dlfcn.h>

#include "heap/base/options.hpp"

namespace {

/// The dlopen behind this one. Relaxed: all threads find the same.
constinit std::atomic<void*> next{nullptr};

void* find_next() noexcept {
  if (void* const known = next.load(std::memory_order_relaxed)) return known;
  void* const function = ::dlsym(RTLD_NEXT, "dlopen");
  next.store(function, std::memory_order_relaxed);
  return function;
}

} // namespace

extern "C" {

/// In two registers.
struct heapwise_dlopen_call {
  void* function;
  long flags;
};

/// Returns: the function that a call of dlopen goes to, nullptr if there is none, and with which
/// flags.
[[gnu::used, gnu::visibility("hidden")]] heapwise_dlopen_call heapwise_forward_dlopen(
    int flags) noexcept {
  const bool keeps = heapwise::detail::the_options.deep_binding;
  return {.function = find_next(), .flags = keeps ? flags : flags & ~RTLD_DEEPBIND};
}
}

// The loader looks at the address that its dlopen returns to: it searches in the folders (RPATH)
// and in the namespace of the library that calls. So this one must not be on the stack any more.
#if defined(__x86_64__)
asm(R"(
  .text
  .globl dlopen
  .type dlopen, @function
dlopen:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  subq $16, %rsp
  .cfi_adjust_cfa_offset 16
  movl %esi, %edi
  call heapwise_forward_dlopen
  addq $16, %rsp
  .cfi_adjust_cfa_offset -16
  popq %rdi
  .cfi_adjust_cfa_offset -8
  movl %edx, %esi
  testq %rax, %rax
  je 1f
  jmp *%rax
1:
  ret
  .cfi_endproc
  .size dlopen, . - dlopen
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .globl dlopen
  .type dlopen, %function
dlopen:
  .cfi_startproc
  hint #34 // bti c
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  str x0, [sp, #16]
  mov w0, w1
  bl heapwise_forward_dlopen
  mov x16, x0
  ldr x0, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore x29
  .cfi_restore x30
  cbz x16, 1f
  br x16
1:
  mov x0, xzr
  ret
  .cfi_endproc
  .size dlopen, . - dlopen
)");
#endif
