// Collectors, and malloc beside them: what a program of this family takes its memory from.
//
// A memory has `start()`, once and before any other call; `pointer<T>` and `array<T>`, which keep
// what they point to; `make`, `make_array` (zeros) and `make_text` (bytes without addresses);
// `drop` (the program needs it no more); `in_thread`, which calls a function in a thread that is
// not the first one; and `calls`: how many of them ask malloc.
//
// A sanitizer and it do not agree.
// optional: BOEHM = header gc/gc.h library gc without any
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "heapwise/gc.h"

#if defined(HEAPWISE_HAS_BOEHM)
#define GC_THREADS
#include <gc/gc.h>
#endif

namespace heapwise::bench::gcs {

/// A memory whose pointers are addresses. A source has `block` (zeros) and `text` (any bytes).
template <class Source>
struct addresses : Source {
  template <class Type>
  using pointer = Type*;
  template <class Type>
  using array = Type*;

  template <class Type>
  static Type* make() {
    return static_cast<Type*>(Source::block(sizeof(Type)));
  }
  template <class Type>
  static Type* make_array(std::size_t count) {
    return static_cast<Type*>(Source::block(count * sizeof(Type)));
  }
  static char* make_text(std::size_t bytes) { return static_cast<char*>(Source::text(bytes)); }
};

/// markers: 0 for as many as the collector chooses. divisor: 0 for its default. From this many
/// live bytes on, a copy of the process marks; 0: never.
template <std::size_t Markers, std::size_t Divisor, std::size_t ConcurrentBytes = 0>
struct ours {
  static void start() {
    heapwise_gc_options options{};
    options.markers = Markers;
    options.free_space_divisor = Divisor;
    options.concurrent_bytes = ConcurrentBytes;
    if (heapwise_gc_init(&options) != 0) std::abort();
  }
  static void* block(std::size_t bytes) { return heapwise_gc_malloc(bytes); }
  static void* text(std::size_t bytes) { return heapwise_gc_malloc_atomic(bytes); }
  static void drop(void*) noexcept {}
  template <class Body>
  static void in_thread(Body body) {
    if (heapwise_gc_register_thread() != 0) std::abort();
    body();
    heapwise_gc_unregister_thread();
  }
  static std::uint64_t calls() noexcept { return 0; }
};

#if defined(HEAPWISE_HAS_BOEHM)
/// divisor: 0 for its default.
template <unsigned Markers, bool Incremental, GC_word Divisor = 0>
struct boehm {
  static void start() {
    GC_set_markers_count(Markers);
    GC_init();
    if (Divisor != 0) GC_set_free_space_divisor(Divisor);
    GC_allow_register_threads();
    if (Incremental) GC_enable_incremental();
  }
  static void* block(std::size_t bytes) { return GC_malloc(bytes); }
  static void* text(std::size_t bytes) { return GC_malloc_atomic(bytes); }
  static void drop(void*) noexcept {}
  template <class Body>
  static void in_thread(Body body) {
    GC_stack_base base{};
    if (GC_get_stack_base(&base) != GC_SUCCESS) std::abort();
    if (GC_register_my_thread(&base) != GC_SUCCESS) std::abort();
    body();
    GC_unregister_my_thread();
  }
  static std::uint64_t calls() noexcept { return 0; }
};
#endif

/// The program frees by hand: nothing that is dropped stays.
class by_hand {
 public:
  static void start() noexcept { calls_ = 0; }
  static void* block(std::size_t bytes) {
    ++calls_;
    return std::calloc(1, bytes);
  }
  static void* text(std::size_t bytes) {
    ++calls_;
    return std::malloc(bytes);
  }
  static void drop(void* block) noexcept { std::free(block); }
  template <class Body>
  static void in_thread(Body body) {
    body();
  }
  static std::uint64_t calls() noexcept { return calls_; }

 private:
  static inline std::uint64_t calls_ = 0;
};

/// An array that counts the pointers to it. The index of the standard's own has a sign.
template <class Type>
class counted_array {
 public:
  counted_array() noexcept = default;
  counted_array(std::nullptr_t) noexcept {}
  counted_array(std::shared_ptr<Type[]> elements) noexcept : elements_{std::move(elements)} {}

  [[nodiscard]] Type& operator[](std::size_t at) const noexcept { return elements_.get()[at]; }

 private:
  std::shared_ptr<Type[]> elements_;
};

/// Blocks count the pointers to them. What lies in a circle is held by addresses alone.
class shared_pointers {
 public:
  template <class Type>
  using pointer = std::shared_ptr<Type>;
  template <class Type>
  using array = counted_array<Type>;

  static void start() noexcept { calls_ = 0; }
  template <class Type>
  static pointer<Type> make() {
    ++calls_;
    return std::make_shared<Type>();
  }
  template <class Type>
  static array<Type> make_array(std::size_t count) {
    ++calls_;
    return std::make_shared<Type[]>(count);
  }
  static array<char> make_text(std::size_t bytes) {
    ++calls_;
    return std::make_shared_for_overwrite<char[]>(bytes);
  }
  template <class Pointer>
  static void drop(Pointer& block) noexcept {
    block = nullptr;
  }
  template <class Body>
  static void in_thread(Body body) {
    body();
  }
  static std::uint64_t calls() noexcept { return calls_; }

 private:
  static inline std::uint64_t calls_ = 0;
};

} // namespace heapwise::bench::gcs
