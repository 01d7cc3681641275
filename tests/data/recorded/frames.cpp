// Allocations whose frame pointers are whole or broken, for the recorder's cheap stacks. Compiled
// with frame pointers and without inlining.
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" void* malloc_with_frame(std::size_t size, std::uintptr_t frame);

#if defined(__x86_64__)
// Calls malloc while the register of the frame pointer holds `frame`.
__asm__(R"(
  .text
  .globl malloc_with_frame
  .type malloc_with_frame, @function
malloc_with_frame:
  push %rbp
  mov %rsi, %rbp
  call malloc@PLT
  pop %rbp
  ret
  .size malloc_with_frame, . - malloc_with_frame
)");
#endif

namespace {

[[gnu::noinline]] void inner(std::size_t size) { free(malloc(size)); }
[[gnu::noinline]] void middle(std::size_t size) {
  inner(size);
  __asm__ volatile(""); // not a tail call
}
[[gnu::noinline]] void outer(std::size_t size) {
  middle(size);
  __asm__ volatile("");
}

void* in_thread(void*) {
  outer(5152);
  return nullptr;
}

#if defined(__x86_64__)
void broken() {
  std::uintptr_t loop[2] = {reinterpret_cast<std::uintptr_t>(loop), 0x1234};
  void* unmapped = mmap(nullptr, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  free(malloc_with_frame(6000, 0));
  free(malloc_with_frame(6001, reinterpret_cast<std::uintptr_t>(unmapped)));
  free(malloc_with_frame(6002, reinterpret_cast<std::uintptr_t>(loop) + 1));
  free(malloc_with_frame(6003, UINTPTR_MAX - 7));
  free(malloc_with_frame(6004, reinterpret_cast<std::uintptr_t>(loop) - 4096));
  free(malloc_with_frame(6005, reinterpret_cast<std::uintptr_t>(loop)));
}

void in_context() {
  // Between this stack and the one of the thread lies what is not mapped.
  std::uintptr_t here = 0;
  free(malloc_with_frame(7000, reinterpret_cast<std::uintptr_t>(&here) + (1U << 20)));
}

ucontext_t back, other;

void on_another_stack() {
  constexpr std::size_t bytes = 65536;
  getcontext(&other);
  other.uc_stack.ss_sp =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  other.uc_stack.ss_size = bytes;
  other.uc_link = &back;
  makecontext(&other, in_context, 0);
  swapcontext(&back, &other);
}
#endif

} // namespace

int main() {
  outer(5151);
  pthread_t thread{};
  pthread_create(&thread, nullptr, in_thread, nullptr);
  pthread_join(thread, nullptr);
#if defined(__x86_64__)
  broken();
  on_another_stack();
#endif
}
