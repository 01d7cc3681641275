// Memory that may come from a pool or from elsewhere: which of them takes it back?
#pragma once

namespace heapwise::detail::inline v0_2 {

/// Whether a pool says "false" for each pointer that is not a block of it, and neither aborts, nor
/// believes that it is one, nor counts it.
template <class Pool>
consteval bool refuses_quietly() noexcept {
  if constexpr (requires(Pool& counting) { counting.counts(); }) {
    return false;
  } else if constexpr (requires { typename Pool::checking; }) {
    return Pool::checking::refuses_foreign && !Pool::checking::enabled;
  } else {
    return false;
  }
}

/// Effects: gives a block of the pool back. Does nothing for memory that came from elsewhere.
/// Returns: false for that.
template <class Pool>
bool take_back_if_own(Pool& pool, void* memory) noexcept {
  if constexpr (refuses_quietly<Pool>()) {
    // A block that is refused was freed twice in a row: it is not another allocator's either.
    return pool.deallocate(memory) || pool.contains(memory);
  } else {
    if (!pool.contains(memory)) return false;
    pool.deallocate(memory);
    return true;
  }
}

} // namespace heapwise::detail::inline v0_2
