// What a bare thread needs of the processor. The functions of the C library for this may be
// intercepted, and they know of its own threads only.
#pragma once

#include <cstddef>
#include <cstdint>

#include <linux/futex.h>
#include <sched.h>
#include <sys/types.h>

#include "os/expects.hpp"
#include "os/linux/system_call.hpp"

// A sanitizer's runtime has to know every thread. Elsewhere it is not known what the C library
// expects at the thread pointer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAPWISE_BARE_THREADS 0
#elif defined(__x86_64__) || defined(__aarch64__)
#define HEAPWISE_BARE_THREADS 1
#else
#define HEAPWISE_BARE_THREADS 0
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#undef HEAPWISE_BARE_THREADS
#define HEAPWISE_BARE_THREADS 0
#endif
#endif

#if HEAPWISE_BARE_THREADS

// For debuggers: the caller of a thread's first frame is not known. Without unwind tables the
// assembler does not accept the line.
#if defined(__GCC_HAVE_DWARF2_CFI_ASM)
#define HEAPWISE_NO_CALLER(pc) \
  ".cfi_remember_state\n\t"    \
  ".cfi_undefined " pc "\n\t"
#define HEAPWISE_CALLER_AGAIN ".cfi_restore_state\n\t"
#else
#define HEAPWISE_NO_CALLER(pc) ""
#define HEAPWISE_CALLER_AGAIN ""
#endif

namespace heapwise::os {

/// Where a thread waits, so that a copy of it can go on from there. The other registers are on the
/// stack.
struct waiting_place {
  std::uintptr_t next_instruction;
  std::uintptr_t stack_pointer;
  std::uintptr_t frame_pointer;
};

/// A new thread. Its number is written to `number`, and 0 when it needs its stack no more.
struct new_thread {
  int (*body)(void* argument);
  void* argument;
  std::byte* stack_end;
  std::byte* thread_pointer;
  pid_t* number;
};

/// Effects: the thread calls `body(argument)`, and ends when this returns; it inherits the mask of
/// signals. Returns: the system's answer, in the calling thread.
/// Requires: stack_end is aligned to 16 bytes.
inline system_answer start_thread_at(const new_thread& thread) noexcept {
  expects(reinterpret_cast<std::uintptr_t>(thread.stack_end) % 16 == 0, "the stack is aligned");
  // As for any other thread: filters of system calls know these, and so does qemu.
  constexpr long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                         CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  auto* const stack = reinterpret_cast<std::uintptr_t*>(thread.stack_end) - 2;
  stack[0] = reinterpret_cast<std::uintptr_t>(thread.argument);
  stack[1] = reinterpret_cast<std::uintptr_t>(thread.body);
#if defined(__x86_64__)
  register pid_t* number asm("r10") = thread.number;
  register std::byte* thread_pointer asm("r8") = thread.thread_pointer;
  long result;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t" HEAPWISE_NO_CALLER("rip") //
      "xor %%ebp, %%ebp\n\t"
      "pop %%rdi\n\t"
      "pop %%rax\n\t"
      "call *%%rax\n\t"
      "mov %%eax, %%edi\n\t"
      "mov %[exit], %%eax\n\t"
      "syscall\n\t"
      "hlt\n\t" HEAPWISE_CALLER_AGAIN "1:"
      : "=a"(result)
      : "a"(long{SYS_clone}), "D"(flags), "S"(stack), "d"(thread.number), "r"(number),
        "r"(thread_pointer), [exit] "i"(SYS_exit)
      : "rcx", "r11", "memory", "cc");
#else
  register long which asm("x8") = SYS_clone;
  register long result asm("x0") = flags;
  register std::uintptr_t* stack_pointer asm("x1") = stack;
  register pid_t* number asm("x2") = thread.number;
  register std::byte* thread_pointer asm("x3") = thread.thread_pointer;
  register pid_t* number_at_end asm("x4") = thread.number;
  asm volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t" HEAPWISE_NO_CALLER("x30") //
      "mov x29, #0\n\t"
      "ldp x0, x1, [sp], #16\n\t"
      "blr x1\n\t"
      "mov x8, %[exit]\n\t"
      "svc #0\n\t"
      "brk #1\n\t" HEAPWISE_CALLER_AGAIN "1:"
      : "+r"(result)
      : "r"(which), "r"(stack_pointer), "r"(number), "r"(thread_pointer),
        "r"(number_at_end), [exit] "i"(SYS_exit)
      : "memory", "cc");
#endif
  return system_answer{result};
}

/// Effects: stores `waiting` in `state` once `place` is written, and then waits as long as `word`
/// is `expected`; may return early. A copy of the thread that begins at `place` while the thread
/// waits returns as well. Not inlined, so that what the caller has in registers is on the stack.
[[gnu::noinline]] inline void wait_at(waiting_place& place, std::uint32_t& state,
                                      std::uint32_t waiting, std::uint32_t& word,
                                      std::uint32_t expected) noexcept {
  constexpr long operation = FUTEX_WAIT_PRIVATE;
#if defined(__x86_64__)
  register void* no_limit asm("r10") = nullptr;
  register waiting_place* written asm("r8") = &place;
  register std::uint32_t* shown asm("r9") = &state;
  long number = SYS_futex;
  std::uint32_t to_show = waiting;
  asm volatile(
      "lea 1f(%%rip), %%r11\n\t"
      "mov %%r11, 0(%[place])\n\t"
      "mov %%rsp, 8(%[place])\n\t"
      "mov %%rbp, 16(%[place])\n\t"
      "xchg %k[to_show], (%[state])\n\t" // sequentially consistent, as bare_state is
      "syscall\n\t"
      "1: endbr64"
      : "+a"(number), [to_show] "+c"(to_show)
      : "D"(&word), "S"(operation), "d"(expected),
        "r"(no_limit), [place] "r"(written), [state] "r"(shown)
      : "rbx", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
#else
  register long number asm("x8") = SYS_futex;
  register std::uint32_t* awaited asm("x0") = &word;
  register long what asm("x1") = operation;
  register long value asm("x2") = expected;
  register void* no_limit asm("x3") = nullptr;
  asm volatile(
      "adr x9, 1f\n\t"
      "mov x10, sp\n\t"
      "stp x9, x10, [%[place]]\n\t"
      "str x29, [%[place], #16]\n\t"
      "stlr %w[waiting], [%[state]]\n\t" // sequentially consistent with ldar
      "svc #0\n\t"
      "1: hint #36" // bti j
      : "+r"(awaited)
      : "r"(number), "r"(what), "r"(value),
        "r"(no_limit), [place] "r"(&place), [state] "r"(&state), [waiting] "r"(waiting)
      : "x9", "x10", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30",
        "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "memory", "cc");
#endif
}

/// Effects: the calling thread leaves its stack, and returns from `wait_at` in the place of the
/// thread that it is a copy of.
[[noreturn]] inline void go_on_at(const waiting_place& place) noexcept {
#if defined(__x86_64__)
  asm volatile(
      "mov 8(%0), %%rsp\n\t"
      "mov 16(%0), %%rbp\n\t"
      "jmp *0(%0)"
      :
      : "a"(&place)
      : "memory");
#else
  register const waiting_place* at asm("x9") = &place;
  asm volatile(
      "ldp x16, x10, [x9]\n\t"
      "ldr x29, [x9, #16]\n\t"
      "mov sp, x10\n\t"
      "br x16"
      :
      : "r"(at)
      : "x10", "x16", "memory");
#endif
  __builtin_unreachable();
}

} // namespace heapwise::os

#undef HEAPWISE_NO_CALLER
#undef HEAPWISE_CALLER_AGAIN

#endif
