#include "override/allocating.hpp"

#include "heap/base/sealed_facts.hpp"
#include "heap/front/general.hpp"
#include "heap/front/operators.hpp"
#include "override/cpp_runtime.hpp"

namespace heapwise::detail {

namespace {

void* ask_heap(request asked) noexcept {
  return asked.alignment == 0 ? allocate(asked.size)
                              : allocate_aligned(asked.size, asked.alignment);
}

/// A request with what is needed to throw.
struct throwing_request : request {
  const void* caller;
};

void* allocate_or_throw_again(const request& asked) {
  return allocate_or_throw(asked, static_cast<const throwing_request&>(asked).caller);
}

} // namespace

void* allocate_or_throw(request asked, const void* caller) {
  for (;;) {
    if (void* const block = ask_heap(asked)) return block;
    const std::new_handler handler = new_handler_of(caller);
    if (handler == nullptr) throw_bad_alloc(caller);
    handler();
  }
}

void* allocate_or_null(request asked, void* (*call)(const request&), const void* caller) noexcept {
  if (!the_facts.derived.may_call_the_heap() && operators_are_replaced()) {
    return call_or_null(call, asked);
  }
  if (void* const block = ask_heap(asked)) return block;
  // Without a handler nothing is thrown: the process may have nobody that could.
  if (new_handler_of(caller) == nullptr) return nullptr;
  return call_or_null(allocate_or_throw_again, throwing_request{asked, caller});
}

} // namespace heapwise::detail
