// Telling the tools that watch memory which memory a program may touch.
#pragma once

#include <cstddef>

#include <heapwise/detail/config.hpp>

#if defined(HEAPWISE_SANITIZES_ADDRESSES)
#include <sanitizer/asan_interface.h>
#endif
#if defined(HEAPWISE_USE_VALGRIND)
#include <valgrind/memcheck.h>
#endif

namespace heapwise::detail::inline v0_2 {

/// Whether `hide` does anything: the program is compiled with the address sanitizer, or with
/// HEAPWISE_USE_VALGRIND defined.
#if defined(HEAPWISE_SANITIZES_ADDRESSES) || defined(HEAPWISE_USE_VALGRIND)
constexpr bool marks_memory = true; // in this translation unit
#else
constexpr bool marks_memory = false;
#endif

/// Effects: from now on the tools report each access to this memory.
HEAPWISE_ALWAYS_INLINE void hide([[maybe_unused]] const void* memory,
                                 [[maybe_unused]] std::size_t size_bytes) noexcept {
#if defined(HEAPWISE_SANITIZES_ADDRESSES)
  __asan_poison_memory_region(memory, size_bytes);
#endif
#if defined(HEAPWISE_USE_VALGRIND)
  VALGRIND_MAKE_MEM_NOACCESS(memory, size_bytes);
#endif
}

/// Effects: from now on the program may touch this memory. What is in it counts as not written yet.
HEAPWISE_ALWAYS_INLINE void show([[maybe_unused]] const void* memory,
                                 [[maybe_unused]] std::size_t size_bytes) noexcept {
#if defined(HEAPWISE_SANITIZES_ADDRESSES)
  __asan_unpoison_memory_region(memory, size_bytes);
#endif
#if defined(HEAPWISE_USE_VALGRIND)
  VALGRIND_MAKE_MEM_UNDEFINED(memory, size_bytes);
#endif
}

/// Effects: as show, but what is in the memory counts as written.
HEAPWISE_ALWAYS_INLINE void show_written([[maybe_unused]] const void* memory,
                                         [[maybe_unused]] std::size_t size_bytes) noexcept {
#if defined(HEAPWISE_SANITIZES_ADDRESSES)
  __asan_unpoison_memory_region(memory, size_bytes);
#endif
#if defined(HEAPWISE_USE_VALGRIND)
  VALGRIND_MAKE_MEM_DEFINED(memory, size_bytes);
#endif
}

/// Effects: the tools report the caller if this byte is hidden.
HEAPWISE_ALWAYS_INLINE void demand_shown([[maybe_unused]] const void* byte) noexcept {
#if defined(HEAPWISE_SANITIZES_ADDRESSES)
  static_cast<void>(*static_cast<const volatile char*>(byte));
#endif
#if defined(HEAPWISE_USE_VALGRIND)
  static_cast<void>(VALGRIND_CHECK_MEM_IS_ADDRESSABLE(byte, 1));
#endif
}

/// How code of the library, which may be compiled in another way than its users, marks memory for
/// them. Without functions it marks nothing.
struct memory_marks {
  void (*hide_from_user)(const void* memory, std::size_t size_bytes) noexcept = nullptr;
  void (*show_to_user)(const void* memory, std::size_t size_bytes) noexcept = nullptr;

  void hide(const void* memory, std::size_t size_bytes) const noexcept {
    if (hide_from_user != nullptr) hide_from_user(memory, size_bytes);
  }
  void show(const void* memory, std::size_t size_bytes) const noexcept {
    if (show_to_user != nullptr) show_to_user(memory, size_bytes);
  }
};

/// Returns: how this translation unit marks memory.
HEAPWISE_ALWAYS_INLINE constexpr memory_marks marks_here() noexcept {
  if constexpr (!marks_memory) return {};
  return {[](const void* memory, std::size_t size_bytes) noexcept { hide(memory, size_bytes); },
          [](const void* memory, std::size_t size_bytes) noexcept { show(memory, size_bytes); }};
}

} // namespace heapwise::detail::inline v0_2
