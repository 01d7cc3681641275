// The allocator behind the counting probe: the functions that the probe forwards to.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwise::bench {

/// Serves the few calls that dlsym itself makes before the real functions are known; never frees.
class early_memory {
 public:
  void* allocate(std::size_t size, std::size_t alignment) noexcept {
    const std::size_t room = size + alignment;
    const std::size_t start = used_.fetch_add(room, std::memory_order_relaxed);
    if (start + room > sizeof bytes_) return nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_ + start);
    return reinterpret_cast<void*>((address + alignment - 1) & ~(alignment - 1));
  }

  [[nodiscard]] bool owns(const void* block) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes_);
    return address >= begin && address < begin + sizeof bytes_;
  }

  /// Bytes from `block` to the end of the buffer: what may be read when a block is moved out.
  [[nodiscard]] std::size_t readable(const void* block) const noexcept {
    return static_cast<std::size_t>(bytes_ + sizeof bytes_ - static_cast<const char*>(block));
  }

 private:
  alignas(64) char bytes_[65536] = {};
  std::atomic<std::size_t> used_{0};
};

inline early_memory early;

/// True while this thread is inside dlsym on the probe's behalf.
__attribute__((tls_model("initial-exec"))) inline thread_local bool resolving = false;

/// A function of the next object in the loader's order, looked up at its first call.
template <class Function>
class next_function {
 public:
  constexpr explicit next_function(const char* name) noexcept : name_{name} {}

  /// Null before the first call of get().
  [[nodiscard]] Function* known() const noexcept { return found_.load(std::memory_order_relaxed); }

  /// Null while this very thread is looking up, or if nobody behind the probe has it.
  ///
  /// No call stands on the known path: each malloc and each free of the program takes it, and a
  /// preloaded library is built without builtin functions, so that even a memcpy would be a call.
  [[gnu::always_inline]] Function* get() noexcept {
    // acquire/release are not needed: the pointer is all that is published, and it never changes.
    if (Function* const function = known(); function != nullptr) [[likely]]
      return function;
    return look_up();
  }

 private:
  [[gnu::noinline, gnu::cold]] Function* look_up() noexcept {
    if (resolving) return nullptr;
    resolving = true;
    auto* const function = std::bit_cast<Function*>(dlsym(RTLD_NEXT, name_));
    found_.store(function, std::memory_order_relaxed);
    resolving = false;
    return function;
  }

  const char* name_;
  std::atomic<Function*> found_{nullptr};
};

} // namespace heapwise::bench
