// C++'s operator new and delete, counted and forwarded.
//
// Some allocators bring their own, others leave libstdc++'s, which calls malloc. So a call counts
// here only if the malloc of this library was not called on the way. Defined by their mangled names
// (Itanium C++ ABI) and compiled without exceptions: bad_alloc passes through these frames.
#include <cstddef>

#include "probe/count.hpp"
#include "probe/next.hpp"

using heapwise::bench::bytes_of;
using heapwise::bench::counted;
using heapwise::bench::counted_live;
using heapwise::bench::next_function;
using call = heapwise::bench::tally::call;

namespace {

template <class Function, class... Arguments>
void* counted_new(next_function<Function>& next, call kind, std::size_t size,
                  Arguments... arguments) {
  const auto before = counted.here(kind);
  void* block = next.get()(size, arguments...);
  if (counted.here(kind) == before) {
    counted.count(kind, size);
    counted_live(block);
  }
  return block;
}

template <class Function, class... Arguments>
void counted_delete(next_function<Function>& next, void* block, Arguments... arguments) {
  const auto before = counted.here(call::free);
  const std::int64_t bytes = bytes_of(block);
  next.get()(block, arguments...);
  if (block == nullptr || counted.here(call::free) != before) return;
  counted.count(call::free);
  counted.change_live(-bytes);
}

} // namespace

extern "C" {

#define HEAPWISE_COUNT_NEW(name)                                    \
  void* name(std::size_t size) {                                    \
    static constinit next_function<void*(std::size_t)> next{#name}; \
    return counted_new(next, call::malloc, size);                   \
  }

#define HEAPWISE_COUNT_NEW_WITH(name, kind, Argument)                         \
  void* name(std::size_t size, Argument argument) {                           \
    static constinit next_function<void*(std::size_t, Argument)> next{#name}; \
    return counted_new(next, call::kind, size, argument);                     \
  }

#define HEAPWISE_COUNT_NEW_ALIGNED_NOTHROW(name)                                              \
  void* name(std::size_t size, std::size_t alignment, const void* tag) {                      \
    static constinit next_function<void*(std::size_t, std::size_t, const void*)> next{#name}; \
    return counted_new(next, call::aligned, size, alignment, tag);                            \
  }

#define HEAPWISE_COUNT_DELETE(name)                          \
  void name(void* block) {                                   \
    static constinit next_function<void(void*)> next{#name}; \
    counted_delete(next, block);                             \
  }

#define HEAPWISE_COUNT_DELETE_WITH(name, Argument)                     \
  void name(void* block, Argument argument) {                          \
    static constinit next_function<void(void*, Argument)> next{#name}; \
    counted_delete(next, block, argument);                             \
  }

#define HEAPWISE_COUNT_DELETE_WITH_TWO(name, First, Second)                 \
  void name(void* block, First first, Second second) {                      \
    static constinit next_function<void(void*, First, Second)> next{#name}; \
    counted_delete(next, block, first, second);                             \
  }

HEAPWISE_COUNT_NEW(_Znwm)
HEAPWISE_COUNT_NEW(_Znam)
HEAPWISE_COUNT_NEW_WITH(_ZnwmRKSt9nothrow_t, malloc, const void*)
HEAPWISE_COUNT_NEW_WITH(_ZnamRKSt9nothrow_t, malloc, const void*)
HEAPWISE_COUNT_NEW_WITH(_ZnwmSt11align_val_t, aligned, std::size_t)
HEAPWISE_COUNT_NEW_WITH(_ZnamSt11align_val_t, aligned, std::size_t)
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
HEAPWISE_COUNT_DELETE_WITH_TWO(_ZdlPvmSt11align_val_t, std::size_t, std::size_t)
HEAPWISE_COUNT_DELETE_WITH_TWO(_ZdaPvmSt11align_val_t, std::size_t, std::size_t)
}
