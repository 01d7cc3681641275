// The collector for C++: objects that it owns, allocators for containers, weak pointers. Needs
// libheapwise-gc. The rules of gc.h for blocks and threads hold here, too.
#pragma once

#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <heapwise/gc.h>
#include <heapwise/detail/construct.hpp>

namespace heapwise::detail::inline v0_2 {

/// Returns: `block`. Throws: std::bad_alloc if `block` is nullptr; without exceptions, ends the
/// program.
inline void* collected_or_thrown(void* block) {
  if (block != nullptr) return block;
#ifdef __cpp_exceptions
  throw std::bad_alloc{};
#else
  std::terminate();
#endif
}

} // namespace heapwise::detail::inline v0_2

namespace heapwise::inline v0_2 {

/// Whether objects of the type never hold addresses of blocks, so that the collector need not look
/// through them. True for numbers and enumerations; specialise it for types made of these.
template <class T>
struct holds_no_addresses : std::bool_constant<std::is_arithmetic_v<T> || std::is_enum_v<T>> {};

/// The type of `collected`.
struct collected_tag {
  explicit collected_tag() = default;
};

/// The type of `collected_atomic`.
struct collected_atomic_tag {
  explicit collected_atomic_tag() = default;
};

/// Says that a `new` takes its memory from the collector: `new (heapwise::collected) T{...}`. The
/// destructor of such an object is never called, unless the program calls it: see make_collected.
/// Requires: alignof(T) is at most 64 KiB. Throws: std::bad_alloc.
inline constexpr collected_tag collected{};

/// As `collected`, for objects that hold no addresses of blocks. The collector looks through such
/// an object only if alignof(T) is more than 16.
inline constexpr collected_atomic_tag collected_atomic{};

/// Requires: alignof(T) is at most 64 KiB.
/// Returns: an object that lives until nothing leads to it. If it has a destructor,
/// heapwise_gc_run_finalizers then calls the destructor, in the order of finalizers. If
/// heapwise_gc_free frees the object before, the destructor is not called.
/// Throws: std::bad_alloc, and what the constructor throws.
template <class T, class... Arguments>
[[nodiscard]] T* make_collected(Arguments&&... arguments) {
  static_assert(alignof(T) <= std::size_t{64} << 10);
  void* const block = detail::collected_or_thrown(
      holds_no_addresses<T>::value && alignof(T) <= 16 ? heapwise_gc_malloc_atomic(sizeof(T))
      : alignof(T) <= 16                               ? heapwise_gc_malloc(sizeof(T))
                         : heapwise_gc_malloc_aligned(alignof(T), sizeof(T)));
  // If the constructor throws, the block is garbage.
  T* const result = detail::construct_in<T>(block, std::forward<Arguments>(arguments)...);
  if constexpr (!std::is_trivially_destructible_v<T>) {
    const auto destroy = [](void* object, void*) { std::destroy_at(static_cast<T*>(object)); };
    if (heapwise_gc_set_finalizer(block, destroy, nullptr) != 0) {
      std::destroy_at(result);
      static_cast<void>(detail::collected_or_thrown(nullptr));
    }
  }
  return result;
}

/// An allocator whose memory the collector frees, if the container does not free it before. For
/// containers that are themselves in memory which the collector looks through. Two such allocators
/// are always equal. Thread safety: all registered threads at once.
template <class T>
class collected_allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;

  collected_allocator() noexcept = default;
  /// An allocator for another type: a container rebinds it.
  template <class Other>
  collected_allocator(const collected_allocator<Other>&) noexcept {}

  /// Returns: memory for `count` objects. Throws: std::bad_alloc.
  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= std::size_t{64} << 10);
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      static_cast<void>(detail::collected_or_thrown(nullptr));
    }
    const std::size_t bytes = count * sizeof(T);
    return static_cast<T*>(detail::collected_or_thrown(
        alignof(T) > 16                ? heapwise_gc_malloc_aligned(alignof(T), bytes)
        : holds_no_addresses<T>::value ? heapwise_gc_malloc_atomic(bytes)
                                       : heapwise_gc_malloc(bytes)));
  }

  /// Effects: gives the memory back at once. Requires: `memory` came from allocate.
  void deallocate(T* memory, std::size_t) noexcept { heapwise_gc_free(memory); }

  /// Returns: true.
  template <class Other>
  [[nodiscard]] bool operator==(const collected_allocator<Other>&) const noexcept {
    return true;
  }
};

/// An allocator whose memory the collector looks through and keeps until it is deallocated. For
/// containers that lead to blocks, but are in memory that the collector does not look through, such
/// as memory of malloc. Two such allocators are always equal. Thread safety: all registered threads
/// at once.
template <class T>
class kept_allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;

  kept_allocator() noexcept = default;
  /// An allocator for another type: a container rebinds it.
  template <class Other>
  kept_allocator(const kept_allocator<Other>&) noexcept {}

  /// Returns: memory for `count` objects. Throws: std::bad_alloc.
  [[nodiscard]] T* allocate(std::size_t count) {
    T* const memory = collected_allocator<T>{}.allocate(count);
    if (heapwise_gc_keep(memory) != 0) {
      heapwise_gc_free(memory);
      static_cast<void>(detail::collected_or_thrown(nullptr));
    }
    return memory;
  }

  /// Effects: gives the memory back. Requires: `memory` came from allocate.
  void deallocate(T* memory, std::size_t) noexcept { heapwise_gc_free(memory); }

  /// Returns: true.
  template <class Other>
  [[nodiscard]] bool operator==(const kept_allocator<Other>&) const noexcept {
    return true;
  }
};

/// A pointer that does not keep its object. It becomes null when nothing else leads to the object,
/// before the destructor of the object is called. Thread safety: as a plain pointer; for registered
/// threads.
template <class T>
class weak_pointer {
 public:
  weak_pointer() noexcept = default;
  /// Requires: a block begins at `object`, or `object` is nullptr. Throws: std::bad_alloc.
  explicit weak_pointer(T* object) { refer_to(object); }
  weak_pointer(const weak_pointer& other) { refer_to(other.get()); }
  weak_pointer& operator=(const weak_pointer& other) {
    refer_to(other.get());
    return *this;
  }
  ~weak_pointer() { static_cast<void>(heapwise_gc_set_weak(&cell_, nullptr)); }

  /// Effects: refers to another object, or to none. Throws: std::bad_alloc; then nothing has
  /// changed.
  void refer_to(T* object) {
    if (heapwise_gc_set_weak(&cell_, object) != 0) {
      static_cast<void>(detail::collected_or_thrown(nullptr));
    }
  }

  /// Returns: the object, or nullptr. The returned pointer keeps the object.
  [[nodiscard]] T* get() const noexcept { return static_cast<T*>(heapwise_gc_get_weak(&cell_)); }

 private:
  heapwise_gc_weak cell_{};
};

} // namespace heapwise::inline v0_2

// A type that is aligned to more than 16 needs the functions with an alignment. Blocks of those
// functions are looked through in any case, as those of collected_allocator.

/// Returns: memory of the collector, which it looks through. Throws: std::bad_alloc.
[[nodiscard]] inline void* operator new(std::size_t size, heapwise::collected_tag) {
  return heapwise::detail::collected_or_thrown(heapwise_gc_malloc(size));
}
[[nodiscard]] inline void* operator new(std::size_t size, std::align_val_t alignment,
                                        heapwise::collected_tag) {
  return heapwise::detail::collected_or_thrown(
      heapwise_gc_malloc_aligned(static_cast<std::size_t>(alignment), size));
}
[[nodiscard]] inline void* operator new[](std::size_t size, heapwise::collected_tag) {
  return heapwise::detail::collected_or_thrown(heapwise_gc_malloc(size));
}
[[nodiscard]] inline void* operator new[](std::size_t size, std::align_val_t alignment,
                                          heapwise::collected_tag tag) {
  return ::operator new(size, alignment, tag);
}

/// Returns: memory of the collector, which it does not look through. Throws: std::bad_alloc.
[[nodiscard]] inline void* operator new(std::size_t size, heapwise::collected_atomic_tag) {
  return heapwise::detail::collected_or_thrown(heapwise_gc_malloc_atomic(size));
}
[[nodiscard]] inline void* operator new[](std::size_t size, heapwise::collected_atomic_tag) {
  return heapwise::detail::collected_or_thrown(heapwise_gc_malloc_atomic(size));
}

/// Returns: memory of the collector, which it looks through. Throws: std::bad_alloc.
[[nodiscard]] inline void* operator new(std::size_t size, std::align_val_t alignment,
                                        heapwise::collected_atomic_tag) {
  return ::operator new(size, alignment, heapwise::collected);
}
[[nodiscard]] inline void* operator new[](std::size_t size, std::align_val_t alignment,
                                          heapwise::collected_atomic_tag) {
  return ::operator new(size, alignment, heapwise::collected);
}

/// Called when a constructor throws.
inline void operator delete(void* block, heapwise::collected_tag) noexcept {
  heapwise_gc_free(block);
}
inline void operator delete(void* block, std::align_val_t, heapwise::collected_tag) noexcept {
  heapwise_gc_free(block);
}
inline void operator delete[](void* block, heapwise::collected_tag) noexcept {
  heapwise_gc_free(block);
}
inline void operator delete[](void* block, std::align_val_t, heapwise::collected_tag) noexcept {
  heapwise_gc_free(block);
}
inline void operator delete(void* block, heapwise::collected_atomic_tag) noexcept {
  heapwise_gc_free(block);
}
inline void operator delete[](void* block, heapwise::collected_atomic_tag) noexcept {
  heapwise_gc_free(block);
}
inline void operator delete(void* block, std::align_val_t,
                            heapwise::collected_atomic_tag) noexcept {
  heapwise_gc_free(block);
}
inline void operator delete[](void* block, std::align_val_t,
                              heapwise::collected_atomic_tag) noexcept {
  heapwise_gc_free(block);
}
