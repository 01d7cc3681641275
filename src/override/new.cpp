// Every operator new and delete of C++, for a program that links or preloads libheapwise-malloc.
//
// The standard says which operator calls which, so that a program which replaces `new` and `delete`
// has replaced `new[]`, the sized `delete` and the others too ([new.delete.single],
// [new.delete.array]). The loader binds these calls, as those of the program itself, because the
// library is linked so (cmake/operators.list). The operators are weak for the archive: one of the
// program takes the place of ours when the program is linked.
#include <cstddef>
#include <new>

#include "heap/front/operators.hpp"
#include "override/allocating.hpp"
#include "override/operator_paths.hpp"

using namespace heapwise::detail;
using std::align_val_t;
using std::nothrow_t;
using std::size_t;

namespace {

constexpr size_t number(align_val_t alignment) noexcept { return static_cast<size_t>(alignment); }

} // namespace

// The operators that others are derived from, under names that nobody can replace: the two basic
// ones of each kind, and those for arrays.
extern "C" {

void* heapwise_new(size_t size) {
  if (void* const block = allocate_quickly(size, end_of_small_bytes)) [[likely]]
    return block;
  return allocate_or_throw({.size = size}, __builtin_return_address(0));
}
void* heapwise_new_aligned(size_t size, align_val_t to) {
  if (void* const block = allocate_quickly(size, end_of_small_bytes, number(to))) [[likely]]
    return block;
  return allocate_or_throw({.size = size, .alignment = number(to)}, __builtin_return_address(0));
}
void heapwise_delete(void* block) noexcept { deallocate(block); }
void heapwise_delete_aligned(void* block, align_val_t) noexcept { deallocate(block); }

void* heapwise_new_array(size_t size) {
  if (void* const block = allocate_quickly(size, the_facts.derived.end_of_small)) [[likely]]
    return block;
  return ::operator new(size);
}
void* heapwise_new_array_aligned(size_t size, align_val_t to) {
  if (void* const block = allocate_quickly(size, the_facts.derived.end_of_small, number(to)))
      [[likely]] {
    return block;
  }
  return ::operator new(size, to);
}
void heapwise_delete_array(void* block) noexcept {
  if (!deallocate_derived(block)) ::operator delete(block);
}
void heapwise_delete_array_aligned(void* block, align_val_t to) noexcept {
  if (!deallocate_derived(block)) ::operator delete(block, to);
}

} // extern "C"

#pragma GCC visibility push(default)

[[gnu::weak, gnu::alias("heapwise_new")]] void* operator new(size_t);
[[gnu::weak, gnu::alias("heapwise_new_aligned")]] void* operator new(size_t, align_val_t);
[[gnu::weak, gnu::alias("heapwise_new_array")]] void* operator new[](size_t);
[[gnu::weak, gnu::alias("heapwise_new_array_aligned")]] void* operator new[](size_t, align_val_t);
[[gnu::weak, gnu::alias("heapwise_delete")]] void operator delete(void*) noexcept;
[[gnu::weak, gnu::alias("heapwise_delete_aligned")]] void operator delete(void*,
                                                                          align_val_t) noexcept;
[[gnu::weak, gnu::alias("heapwise_delete_array")]] void operator delete[](void*) noexcept;
[[gnu::weak, gnu::alias("heapwise_delete_array_aligned")]] void operator delete[](
    void*, align_val_t) noexcept;

// The others, from which nothing is derived.

[[gnu::weak]] void* operator new(size_t size, const nothrow_t&) noexcept {
  if (void* const block = allocate_quickly(size, the_facts.derived.end_of_small)) [[likely]]
    return block;
  constexpr auto call = [](const request& asked) { return ::operator new(asked.size); };
  return allocate_or_null({.size = size}, call, __builtin_return_address(0));
}
[[gnu::weak]] void* operator new[](size_t size, const nothrow_t&) noexcept {
  if (void* const block = allocate_quickly(size, the_facts.derived.end_of_small)) [[likely]]
    return block;
  constexpr auto call = [](const request& asked) { return ::operator new[](asked.size); };
  return allocate_or_null({.size = size}, call, __builtin_return_address(0));
}
[[gnu::weak]] void* operator new(size_t size, align_val_t to, const nothrow_t&) noexcept {
  if (void* const block = allocate_quickly(size, the_facts.derived.end_of_small, number(to)))
      [[likely]] {
    return block;
  }
  constexpr auto call = [](const request& asked) {
    return ::operator new(asked.size, align_val_t{asked.alignment});
  };
  return allocate_or_null({.size = size, .alignment = number(to)}, call,
                          __builtin_return_address(0));
}
[[gnu::weak]] void* operator new[](size_t size, align_val_t to, const nothrow_t&) noexcept {
  if (void* const block = allocate_quickly(size, the_facts.derived.end_of_small, number(to)))
      [[likely]] {
    return block;
  }
  constexpr auto call = [](const request& asked) {
    return ::operator new[](asked.size, align_val_t{asked.alignment});
  };
  return allocate_or_null({.size = size, .alignment = number(to)}, call,
                          __builtin_return_address(0));
}
[[gnu::weak]] void operator delete(void* block, size_t size) noexcept {
  if (!deallocate_derived(block, size, 1)) ::operator delete(block);
}
[[gnu::weak]] void operator delete[](void* block, size_t size) noexcept {
  if (!deallocate_derived(block, size, 1)) ::operator delete[](block);
}
[[gnu::weak]] void operator delete(void* block, const nothrow_t&) noexcept {
  if (!deallocate_derived(block)) ::operator delete(block);
}
[[gnu::weak]] void operator delete[](void* block, const nothrow_t&) noexcept {
  if (!deallocate_derived(block)) ::operator delete[](block);
}
[[gnu::weak]] void operator delete(void* block, size_t size, align_val_t to) noexcept {
  if (!deallocate_derived(block, size, number(to))) ::operator delete(block, to);
}
[[gnu::weak]] void operator delete[](void* block, size_t size, align_val_t to) noexcept {
  if (!deallocate_derived(block, size, number(to))) ::operator delete[](block, to);
}
[[gnu::weak]] void operator delete(void* block, align_val_t to, const nothrow_t&) noexcept {
  if (!deallocate_derived(block)) ::operator delete(block, to);
}
[[gnu::weak]] void operator delete[](void* block, align_val_t to, const nothrow_t&) noexcept {
  if (!deallocate_derived(block)) ::operator delete[](block, to);
}

#pragma GCC visibility pop

namespace {

/// All operators that others are derived from.
struct parents {
  void* (*make[2])(size_t);
  void* (*make_aligned[2])(size_t, align_val_t);
  void (*end[2])(void*) noexcept;
  void (*end_aligned[2])(void*, align_val_t) noexcept;

  friend bool operator==(const parents&, const parents&) = default;
};

/// The loader fills in those that the process uses.
constinit const parents used = {
    .make = {&::operator new, &::operator new[] },
             .make_aligned = {&::operator new, &::operator new[] },
                              .end = {&::operator delete, &::operator delete[] },
                                      .end_aligned =
                                          {
                                              &::operator delete,
                                              &::operator delete[] },
                                      };
constinit const parents own = {
    .make = {&heapwise_new, &heapwise_new_array},
    .make_aligned = {&heapwise_new_aligned, &heapwise_new_array_aligned},
    .end = {&heapwise_delete, &heapwise_delete_array},
    .end_aligned = {&heapwise_delete_aligned, &heapwise_delete_array_aligned},
};

} // namespace

bool heapwise::detail::operators_are_replaced() noexcept {
  const parents* bound = &used;
  asm("" : "+r"(bound)); // the compiler does not know what the loader filled in
  return !(*bound == own);
}
