// Every operator new and delete of C++, for a program that links or preloads libheapwise-malloc.
#include <cstddef>
#include <new>

#include "heap/general.hpp"

// A program in C has no C++ runtime, and must not have to load one for a malloc: what is needed of
// it is used if it is there. A program that calls operator new has it.
namespace std {
[[gnu::weak]] new_handler get_new_handler() noexcept;
[[gnu::weak]] void __throw_bad_alloc();
} // namespace std
extern "C" {
[[gnu::weak]] void* __cxa_begin_catch(void*) noexcept;
[[gnu::weak]] void __cxa_end_catch();
}
asm(".weak __gxx_personality_v0\n.weak _Unwind_Resume");

using namespace heapwise::detail;

namespace {

/// Effects: as the standard says when there is no memory: calls the new handler as long as there is
/// one, and throws without.
template <class Allocate>
HEAPWISE_COLD void* ask_handler(Allocate again) {
  for (;;) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) std::__throw_bad_alloc();
    handler();
    if (void* const block = again()) return block;
  }
}

template <class Allocate>
HEAPWISE_ALWAYS_INLINE void* or_throw(Allocate allocate_it) {
  if (void* const block = allocate_it()) [[likely]]
    return block;
  return ask_handler(allocate_it);
}

template <class Allocate>
HEAPWISE_ALWAYS_INLINE void* or_null(Allocate allocate_it) noexcept {
  if (void* const block = allocate_it()) [[likely]]
    return block;
  try {
    return ask_handler(allocate_it);
  } catch (...) {
    return nullptr;
  }
}

auto plain(std::size_t size) {
  return [size]() noexcept { return allocate(size); };
}

auto aligned(std::size_t size, std::align_val_t alignment) {
  return [=]() noexcept { return allocate_aligned(size, static_cast<std::size_t>(alignment)); };
}

} // namespace

#pragma GCC visibility push(default)

void* operator new(std::size_t size) { return or_throw(plain(size)); }
void* operator new[](std::size_t size) { return or_throw(plain(size)); }
void* operator new(std::size_t size, std::align_val_t to) { return or_throw(aligned(size, to)); }
void* operator new[](std::size_t size, std::align_val_t to) { return or_throw(aligned(size, to)); }

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return or_null(plain(size));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return or_null(plain(size));
}
void* operator new(std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return or_null(aligned(size, to));
}
void* operator new[](std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return or_null(aligned(size, to));
}

void operator delete(void* block) noexcept { deallocate(block); }
void operator delete[](void* block) noexcept { deallocate(block); }
void operator delete(void* block, std::size_t size) noexcept { deallocate_new(block, size, 1); }
void operator delete[](void* block, std::size_t size) noexcept { deallocate_new(block, size, 1); }
void operator delete(void* block, std::align_val_t) noexcept { deallocate(block); }
void operator delete[](void* block, std::align_val_t) noexcept { deallocate(block); }
void operator delete(void* block, std::size_t size, std::align_val_t to) noexcept {
  deallocate_new(block, size, static_cast<std::size_t>(to));
}
void operator delete[](void* block, std::size_t size, std::align_val_t to) noexcept {
  deallocate_new(block, size, static_cast<std::size_t>(to));
}
void operator delete(void* block, const std::nothrow_t&) noexcept { deallocate(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { deallocate(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  deallocate(block);
}
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  deallocate(block);
}

#pragma GCC visibility pop
