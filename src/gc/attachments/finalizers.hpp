// Functions that are called when nothing leads to a block any more.
#pragma once

#include <cstddef>

#include "gc/attachments/attachments.hpp"

namespace heapwise::gc {

/// Effects: `call` becomes the finalizer of the block, nullptr: none. Returns: 0; ENOMEM; EINVAL
/// if no block begins there.
[[nodiscard]] int set_finalizer(void* block, heapwise_gc_finalizer* call, void* argument,
                                bool unordered) noexcept;

/// Effects: calls finalizers that are ready, until none is. Returns: how many. Requires: no lock.
std::size_t run_finalizers() noexcept;

/// Effects: calls the program's notice if finalizers have become ready since the last one.
/// Requires: no lock.
void give_notice() noexcept;

/// Effects: a block that is freed has no finalizer that is ready. Requires: the lock.
void forget_ready(const void* block) noexcept;

/// Effects: the finalizer that is ready for `from` gets `to`. Returns: whether there is one.
/// Requires: the lock.
bool move_ready(const void* from, void* to) noexcept;

/// As settle_attachments, of finalizers alone.
void find_ready(page_list<root>& roots, bool worth_help) noexcept;

/// Effects: the finalizer of this block is ready, if it has one. Requires: the lock.
void make_ready(void* block) noexcept;

/// Returns: how many are ready. Requires: the lock.
[[nodiscard]] std::size_t ready_count() noexcept;

} // namespace heapwise::gc
