// What a thread does between two looks at something that another thread will change.
#pragma once

namespace heapwise::bench {

/// Tells the processor that this is a waiting loop: it leaves resources to its sibling and does not
/// run ahead. From a few to about 140 cycles, as the processor likes.
[[gnu::always_inline]] inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory"); // yield does nothing on cores with one thread
#else
  asm volatile("" : : : "memory");
#endif
}

} // namespace heapwise::bench
