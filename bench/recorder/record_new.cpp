// C++'s operator new and delete, recorded and forwarded.
//
// Some allocators bring their own, others leave libstdc++'s, which calls malloc: that inner call is
// not an event. Defined by their mangled names (Itanium C++ ABI). Compiled without
// exceptions: bad_alloc passes through these frames, see thread_writer::outer_call.
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "probe/next_operator.hpp"
#include "recorder/calls.hpp"

using namespace heapwise::bench;

namespace {

/// Returns: whether the program defines an operator that this one calls in the end. Then a block
/// may begin within one of malloc, whose size malloc must not be asked for; and the program's calls
/// of its own operators are not seen. So calls of malloc and free are the events.
bool is_replaced(std::string_view name) noexcept;

template <class... Arguments>
[[gnu::noinline]] void* new_slowly(next_operator& next, event_kind kind, const void* site,
                                   unsigned alignment_log, const call_frame* frame,
                                   std::size_t size, Arguments... arguments) {
  constexpr bool throws = !(std::is_same_v<Arguments, const void*> || ...);
  const std::size_t alignment = std::size_t{1} << alignment_log;
  const bool passes = is_replaced(next.name());
  const operator_source source = next.source_for(site, passes);
  if (passes || !writer.records(frame))
    return call_new(source, alignment, throws, size, arguments...);
  void* block = nullptr;
  {
    const thread_writer::outer_call outer{writer, frame};
    block = call_new(source, alignment, throws, size, arguments...);
  }
  return writer.write_block(kind, block, size, site, alignment_log);
}

template <class... Arguments>
[[gnu::always_inline]] inline void* recorded_new(next_operator& next, event_kind kind,
                                                 const void* site, unsigned alignment_log,
                                                 std::size_t size, Arguments... arguments) {
  auto* const function = next.known<void*(std::size_t, Arguments...)>();
  if (function == nullptr || !writer.is_ready()) [[unlikely]] {
    void* const slow =
        new_slowly(next, kind, site, alignment_log, frame_here(), size, arguments...);
    keep_frame();
    return slow;
  }
  void* block = nullptr;
  {
    const thread_writer::outer_call outer{writer, frame_here()};
    block = function(size, arguments...);
  }
  return writer.write_made(kind, block, size, site, alignment_log);
}

template <class... Arguments>
[[gnu::noinline]] void delete_slowly(next_operator& next, event_kind kind, const void* site,
                                     const call_frame* frame, void* block, Arguments... arguments) {
  if (block == nullptr) return;
  const bool passes = is_replaced(next.name());
  const operator_source source = next.source_of(block, passes);
  if (passes || !writer.records(frame)) return call_delete(source, block, arguments...);
  write_free(kind, block, site, frame, source.of_malloc);
  const thread_writer::outer_call outer{writer, frame};
  call_delete(source, block, arguments...);
}

template <class... Arguments>
[[gnu::always_inline]] inline void recorded_delete(next_operator& next, event_kind kind,
                                                   const void* site, void* block,
                                                   Arguments... arguments) {
  auto* const function = next.known<void(void*, Arguments...)>();
  if (function == nullptr || !write_plain_free(kind, block, site)) [[unlikely]] {
    delete_slowly(next, kind, site, frame_here(), block, arguments...);
    return keep_frame();
  }
  const thread_writer::outer_call outer{writer, frame_here()};
  function(block, arguments...);
}

unsigned log_of(std::size_t alignment) noexcept {
  return alignment > 1 ? 63 - static_cast<unsigned>(__builtin_clzll(alignment)) : 0;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

#define HEAPWISE_RECORD_NEW(name, kind)                                                \
  void* name(std::size_t size) {                                                       \
    constexpr next_operator& next = next_operator_of(#name);                           \
    return recorded_new(next, event_kind::kind, __builtin_return_address(0), 0, size); \
  }

#define HEAPWISE_RECORD_NEW_NOTHROW(name, kind)                                             \
  void* name(std::size_t size, const void* tag) {                                           \
    constexpr next_operator& next = next_operator_of(#name);                                \
    return recorded_new(next, event_kind::kind, __builtin_return_address(0), 0, size, tag); \
  }

#define HEAPWISE_RECORD_NEW_ALIGNED(name, kind)                                                 \
  void* name(std::size_t size, std::size_t alignment) {                                         \
    constexpr next_operator& next = next_operator_of(#name);                                    \
    return recorded_new(next, event_kind::kind, __builtin_return_address(0), log_of(alignment), \
                        size, alignment);                                                       \
  }

#define HEAPWISE_RECORD_NEW_ALIGNED_NOTHROW(name, kind)                                         \
  void* name(std::size_t size, std::size_t alignment, const void* tag) {                        \
    constexpr next_operator& next = next_operator_of(#name);                                    \
    return recorded_new(next, event_kind::kind, __builtin_return_address(0), log_of(alignment), \
                        size, alignment, tag);                                                  \
  }

#define HEAPWISE_RECORD_DELETE(name, kind)                                       \
  void name(void* block) {                                                       \
    constexpr next_operator& next = next_operator_of(#name);                     \
    recorded_delete(next, event_kind::kind, __builtin_return_address(0), block); \
  }

#define HEAPWISE_RECORD_DELETE_WITH(name, kind, Argument)                                  \
  void name(void* block, Argument argument) {                                              \
    constexpr next_operator& next = next_operator_of(#name);                               \
    recorded_delete(next, event_kind::kind, __builtin_return_address(0), block, argument); \
  }

#define HEAPWISE_RECORD_DELETE_WITH_TWO(name, kind, First, Second)                              \
  void name(void* block, First first, Second second) {                                          \
    constexpr next_operator& next = next_operator_of(#name);                                    \
    recorded_delete(next, event_kind::kind, __builtin_return_address(0), block, first, second); \
  }

HEAPWISE_RECORD_NEW(_Znwm, scalar_new)
HEAPWISE_RECORD_NEW(_Znam, array_new)
HEAPWISE_RECORD_NEW_NOTHROW(_ZnwmRKSt9nothrow_t, scalar_new)
HEAPWISE_RECORD_NEW_NOTHROW(_ZnamRKSt9nothrow_t, array_new)
HEAPWISE_RECORD_NEW_ALIGNED(_ZnwmSt11align_val_t, scalar_new)
HEAPWISE_RECORD_NEW_ALIGNED(_ZnamSt11align_val_t, array_new)
HEAPWISE_RECORD_NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t, scalar_new)
HEAPWISE_RECORD_NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t, array_new)
HEAPWISE_RECORD_DELETE(_ZdlPv, scalar_delete)
HEAPWISE_RECORD_DELETE(_ZdaPv, array_delete)
HEAPWISE_RECORD_DELETE_WITH(_ZdlPvm, scalar_delete, std::size_t)
HEAPWISE_RECORD_DELETE_WITH(_ZdaPvm, array_delete, std::size_t)
HEAPWISE_RECORD_DELETE_WITH(_ZdlPvRKSt9nothrow_t, scalar_delete, const void*)
HEAPWISE_RECORD_DELETE_WITH(_ZdaPvRKSt9nothrow_t, array_delete, const void*)
HEAPWISE_RECORD_DELETE_WITH(_ZdlPvSt11align_val_t, scalar_delete, std::size_t)
HEAPWISE_RECORD_DELETE_WITH(_ZdaPvSt11align_val_t, array_delete, std::size_t)
HEAPWISE_RECORD_DELETE_WITH_TWO(_ZdlPvSt11align_val_tRKSt9nothrow_t, scalar_delete, std::size_t,
                                const void*)
HEAPWISE_RECORD_DELETE_WITH_TWO(_ZdaPvSt11align_val_tRKSt9nothrow_t, array_delete, std::size_t,
                                const void*)
HEAPWISE_RECORD_DELETE_WITH_TWO(_ZdlPvmSt11align_val_t, scalar_delete, std::size_t, std::size_t)
HEAPWISE_RECORD_DELETE_WITH_TWO(_ZdaPvmSt11align_val_t, array_delete, std::size_t, std::size_t)
}
#pragma GCC visibility pop

#define HEAPWISE_OWN(name, result, own, ...) \
  extern "C" [[gnu::alias(#name), gnu::visibility("hidden")]] result own(__VA_ARGS__)

HEAPWISE_OWN(_Znwm, void*, heapwise_own_new, std::size_t);
HEAPWISE_OWN(_Znam, void*, heapwise_own_array_new, std::size_t);
HEAPWISE_OWN(_ZdlPv, void, heapwise_own_delete, void*);
HEAPWISE_OWN(_ZdaPv, void, heapwise_own_array_delete, void*);
HEAPWISE_OWN(_ZnwmSt11align_val_t, void*, heapwise_own_aligned_new, std::size_t, std::size_t);
HEAPWISE_OWN(_ZnamSt11align_val_t, void*, heapwise_own_aligned_array_new, std::size_t, std::size_t);
HEAPWISE_OWN(_ZdlPvSt11align_val_t, void, heapwise_own_aligned_delete, void*, std::size_t);
HEAPWISE_OWN(_ZdaPvSt11align_val_t, void, heapwise_own_aligned_array_delete, void*, std::size_t);

namespace {

/// Returns: whether the loader found another definition first.
template <class Function>
bool differs(Function* used, Function* own) noexcept {
  asm("" : "+r"(used)); // the address is that of the loader, not of this file
  return used != own;
}

bool is_replaced(std::string_view name) noexcept {
  const bool is_array = name[3] == 'a';
  if (name.find("St11align_val_t") != std::string_view::npos) {
    return differs(&_ZnwmSt11align_val_t, &heapwise_own_aligned_new) ||
           differs(&_ZdlPvSt11align_val_t, &heapwise_own_aligned_delete) ||
           (is_array && (differs(&_ZnamSt11align_val_t, &heapwise_own_aligned_array_new) ||
                         differs(&_ZdaPvSt11align_val_t, &heapwise_own_aligned_array_delete)));
  }
  return differs(&_Znwm, &heapwise_own_new) || differs(&_ZdlPv, &heapwise_own_delete) ||
         (is_array && (differs(&_Znam, &heapwise_own_array_new) ||
                       differs(&_ZdaPv, &heapwise_own_array_delete)));
}

} // namespace
