// C++'s operator new and delete, counted and forwarded.
//
// Some allocators bring their own, others leave libstdc++'s, which calls malloc. So a call counts
// here only if the malloc of this library was not called on the way. Defined by their mangled names
// (Itanium C++ ABI) and compiled without exceptions: bad_alloc passes through these frames.
#include <cstddef>
#include <type_traits>

#include "probe/count.hpp"
#include "probe/next_operator.hpp"

using heapwise::bench::bytes_of;
using heapwise::bench::call_delete;
using heapwise::bench::call_new;
using heapwise::bench::counted;
using heapwise::bench::counted_live;
using heapwise::bench::next_operator;
using heapwise::bench::next_operator_of;
using heapwise::bench::operator_source;
using call = heapwise::bench::tally::call;

namespace {

/// Returns: whether the program has an operator delete of its own, which the other forms call. Then
/// a block may begin within one of malloc, and malloc must not be asked for its size.
bool delete_is_replaced() noexcept;

/// Whether malloc may be asked about the blocks of an operator, which is known or of this source.
bool is_of_malloc(bool is_known, const operator_source& source) noexcept {
  return is_known ? next_operator::known_are_of_malloc() : source.of_malloc;
}

/// `alignment` is 0 for the operators that have none.
template <class... Arguments>
void* counted_new(next_operator& next, const void* site, std::size_t alignment, std::size_t size,
                  Arguments... arguments) {
  constexpr bool throws = !(std::is_same_v<Arguments, const void*> || ...);
  const call kind = alignment != 0 ? call::aligned : call::malloc;
  auto* const function = next.known<void*(std::size_t, Arguments...)>();
  // Found before the look at the counter: to find it may call malloc.
  const operator_source source = function != nullptr ? operator_source{} : next.source_for(site);
  const auto before = counted.here(kind);
  void* const block = function != nullptr ? function(size, arguments...)
                                          : call_new(source, alignment, throws, size, arguments...);
  if (counted.here(kind) == before) {
    counted.count(kind, size);
    if (is_of_malloc(function != nullptr, source)) counted_live(block);
  }
  return block;
}

template <class... Arguments>
void counted_delete(next_operator& next, void* block, Arguments... arguments) {
  if (block == nullptr) return;
  auto* const function = next.known<void(void*, Arguments...)>();
  const operator_source source = function != nullptr ? operator_source{} : next.source_of(block);
  const auto before = counted.here(call::free);
  const bool has_bytes = is_of_malloc(function != nullptr, source) && !delete_is_replaced();
  const std::int64_t bytes = has_bytes ? bytes_of(block) : 0;
  if (function != nullptr) {
    function(block, arguments...);
  } else {
    call_delete(source, block, arguments...);
  }
  if (counted.here(call::free) != before) return;
  counted.count(call::free);
  counted.change_live(-bytes);
}

} // namespace

extern "C" {

#define HEAPWISE_COUNT_NEW(name)                                    \
  void* name(std::size_t size) {                                    \
    constexpr next_operator& next = next_operator_of(#name);        \
    return counted_new(next, __builtin_return_address(0), 0, size); \
  }

#define HEAPWISE_COUNT_NEW_NOTHROW(name)                                 \
  void* name(std::size_t size, const void* tag) {                        \
    constexpr next_operator& next = next_operator_of(#name);             \
    return counted_new(next, __builtin_return_address(0), 0, size, tag); \
  }

#define HEAPWISE_COUNT_NEW_ALIGNED(name)                                               \
  void* name(std::size_t size, std::size_t alignment) {                                \
    constexpr next_operator& next = next_operator_of(#name);                           \
    return counted_new(next, __builtin_return_address(0), alignment, size, alignment); \
  }

#define HEAPWISE_COUNT_NEW_ALIGNED_NOTHROW(name)                                            \
  void* name(std::size_t size, std::size_t alignment, const void* tag) {                    \
    constexpr next_operator& next = next_operator_of(#name);                                \
    return counted_new(next, __builtin_return_address(0), alignment, size, alignment, tag); \
  }

#define HEAPWISE_COUNT_DELETE(name)                          \
  void name(void* block) {                                   \
    constexpr next_operator& next = next_operator_of(#name); \
    counted_delete(next, block);                             \
  }

#define HEAPWISE_COUNT_DELETE_WITH(name, Argument)           \
  void name(void* block, Argument argument) {                \
    constexpr next_operator& next = next_operator_of(#name); \
    counted_delete(next, block, argument);                   \
  }

#define HEAPWISE_COUNT_DELETE_WITH_TWO(name, First, Second)  \
  void name(void* block, First first, Second second) {       \
    constexpr next_operator& next = next_operator_of(#name); \
    counted_delete(next, block, first, second);              \
  }

HEAPWISE_COUNT_NEW(_Znwm)
HEAPWISE_COUNT_NEW(_Znam)
HEAPWISE_COUNT_NEW_NOTHROW(_ZnwmRKSt9nothrow_t)
HEAPWISE_COUNT_NEW_NOTHROW(_ZnamRKSt9nothrow_t)
HEAPWISE_COUNT_NEW_ALIGNED(_ZnwmSt11align_val_t)
HEAPWISE_COUNT_NEW_ALIGNED(_ZnamSt11align_val_t)
HEAPWISE_COUNT_NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t)
HEAPWISE_COUNT_NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t)
HEAPWISE_COUNT_DELETE(_ZdlPv)
HEAPWISE_COUNT_DELETE(_ZdaPv)
HEAPWISE_COUNT_DELETE_WITH(_ZdlPvm, std::size_t)
HEAPWISE_COUNT_DELETE_WITH(_ZdaPvm, std::size_t)
HEAPWISE_COUNT_DELETE_WITH(_ZdlPvRKSt9nothrow_t, const void*)
HEAPWISE_COUNT_DELETE_WITH(_ZdaPvRKSt9nothrow_t, const void*)
HEAPWISE_COUNT_DELETE_WITH(_ZdlPvSt11align_val_t, std::size_t)
HEAPWISE_COUNT_DELETE_WITH(_ZdaPvSt11align_val_t, std::size_t)
HEAPWISE_COUNT_DELETE_WITH_TWO(_ZdlPvSt11align_val_tRKSt9nothrow_t, std::size_t, const void*)
HEAPWISE_COUNT_DELETE_WITH_TWO(_ZdaPvSt11align_val_tRKSt9nothrow_t, std::size_t, const void*)
HEAPWISE_COUNT_DELETE_WITH_TWO(_ZdlPvmSt11align_val_t, std::size_t, std::size_t)
HEAPWISE_COUNT_DELETE_WITH_TWO(_ZdaPvmSt11align_val_t, std::size_t, std::size_t)
}

extern "C" [[gnu::alias("_ZdlPv"), gnu::visibility("hidden")]] void heapwise_own_delete(void*);

namespace {

bool delete_is_replaced() noexcept {
  void (*used)(void*) = &_ZdlPv; // the loader says whose
  asm("" : "+r"(used));
  return used != &heapwise_own_delete;
}

} // namespace
