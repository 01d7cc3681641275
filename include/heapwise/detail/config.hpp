// What differs between compilers and their options. Other headers of C++ have an `#if` only for
// sanitizers (poison.hpp), inline assembly (heap_cache.hpp), exceptions (gc.hpp) and the standard
// (standard.hpp).
#pragma once

#include <heapwise/standard.hpp>

#if defined(__GNUC__) || defined(__clang__)
#define HEAPWISE_ALWAYS_INLINE [[gnu::always_inline]] inline
#define HEAPWISE_NOINLINE [[gnu::noinline]]
#define HEAPWISE_COLD [[gnu::noinline, gnu::cold]]
#define HEAPWISE_EXPORT [[gnu::visibility("default")]]
#define HEAPWISE_PREFETCH(address) __builtin_prefetch(address)
#define HEAPWISE_PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#define HEAPWISE_ASSUME(condition)             \
  do {                                         \
    if (!(condition)) __builtin_unreachable(); \
  } while (false)
#else
#define HEAPWISE_ALWAYS_INLINE inline
#define HEAPWISE_NOINLINE
#define HEAPWISE_COLD
#define HEAPWISE_EXPORT
#define HEAPWISE_PREFETCH(address) static_cast<void>(address)
#define HEAPWISE_PREFETCH_TO_WRITE(address) static_cast<void>(address)
#define HEAPWISE_ASSUME(condition) static_cast<void>(0)
#endif

// For names of the library that inlined code uses from outside of it. Each copy of the library
// always means its own: a program may export those of another copy, linked statically.
#if defined(HEAPWISE_IN_LIBRARY) && (defined(__GNUC__) || defined(__clang__))
#define HEAPWISE_OWN_EXPORT __attribute__((visibility("protected")))
#elif defined(__GNUC__) || defined(__clang__)
#define HEAPWISE_OWN_EXPORT __attribute__((visibility("default")))
#else
#define HEAPWISE_OWN_EXPORT
#endif

// For the one read that is racy by design (see thread/lock_free.hpp).
#if defined(__clang__) || defined(__GNUC__)
#define HEAPWISE_NO_SANITIZE_THREAD __attribute__((no_sanitize("thread")))
#else
#define HEAPWISE_NO_SANITIZE_THREAD
#endif

// A relaxed load of a word that its owner may be writing to plainly at the same time. The thread
// sanitizer instruments atomic loads even where it is told not to, so it gets a plain one.
#if defined(__SANITIZE_THREAD__)
#define HEAPWISE_SANITIZES_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEAPWISE_SANITIZES_THREADS 1
#endif
#endif
#if (defined(__clang__) || defined(__GNUC__)) && !defined(HEAPWISE_SANITIZES_THREADS)
#define HEAPWISE_LOAD_RACY(word) __atomic_load_n(word, __ATOMIC_RELAXED)
#else
#define HEAPWISE_LOAD_RACY(word) (*static_cast<const volatile std::uint64_t*>(word))
#endif

// A relaxed store to a plain word, as std::atomic_ref makes it, which libc++ has since version 19.
#if defined(__clang__) || defined(__GNUC__)
#define HEAPWISE_STORE_RELAXED(word, value) __atomic_store_n(word, value, __ATOMIC_RELAXED)
#else
#define HEAPWISE_STORE_RELAXED(word, value) \
  std::atomic_ref{*(word)}.store(value, std::memory_order_relaxed)
#endif

// What operator delete is given. Without sized deallocation, an option of compilers that is off in
// clang before version 19, there is no operator that takes the size.
#if defined(__cpp_sized_deallocation)
#define HEAPWISE_BLOCK_AND_SIZE(block, bytes) block, bytes
#else
#define HEAPWISE_BLOCK_AND_SIZE(block, bytes) block
#endif

// Programs that run under the address sanitizer (see detail/poison.hpp).
#if defined(__SANITIZE_ADDRESS__)
#define HEAPWISE_SANITIZES_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEAPWISE_SANITIZES_ADDRESSES 1
#endif
#endif

// For a collector that reads whatever lies on stacks, in blocks and in static data: memory that its
// threads write at other times, and what lies between variables.
#if defined(__clang__) || defined(__GNUC__)
#define HEAPWISE_READS_ANYTHING __attribute__((no_sanitize("address", "thread", "undefined")))
#else
#define HEAPWISE_READS_ANYTHING
#endif

// For a class that must compare itself with others of its type. Without RTTI no other object is
// known to be of that type.
#if defined(__cpp_rtti)
#define HEAPWISE_DYNAMIC_CAST(type, pointer) dynamic_cast<type>(pointer)
#else
#define HEAPWISE_DYNAMIC_CAST(type, pointer) static_cast<type>(nullptr)
#endif

// For heap.hpp, which needs only a library in C, so that there is nobody to throw for it. Use it in
// functions that are always inlined: a program may have parts with and without exceptions.
#if defined(__cpp_exceptions)
#define HEAPWISE_THROW(exception) throw exception
#else
#define HEAPWISE_THROW(exception) ::std::abort()
#endif

// Where another thread may come in between. Nothing, unless a test defines it before it includes
// the library's headers, to try many interleavings.
#ifndef HEAPWISE_SCHEDULE_POINT
#define HEAPWISE_SCHEDULE_POINT() static_cast<void>(0)
#endif

namespace heapwise::detail {

/// The size of a cache line in bytes: what two threads must not share. Fixed rather than
/// std::hardware_destructive_interference_size, which GCC warns may change with -mtune.
inline constexpr unsigned cache_line_bytes = 64;

} // namespace heapwise::detail
