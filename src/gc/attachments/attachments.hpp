// Blocks to which something is attached: that they are kept, finalizers, weak references.
#pragma once

#include "gc/base/page_list.hpp"
#include "gc/base/root.hpp"
#include "gc/state/attachment_table.hpp"

namespace heapwise::gc {

/// Returns: the attachment of the block that begins there, nullptr without memory. Requires: the
/// lock; that a block begins there.
[[nodiscard]] attachment* attachment_of(void* block) noexcept;

/// Effects: takes the attachment out if nothing is left in it. Requires: the lock.
void remove_if_empty(attachment* entry) noexcept;

/// Effects: the block is reachable until stop_keeping was called as often. Returns: 0; ENOMEM;
/// EINVAL if no block begins there.
[[nodiscard]] int keep(void* block) noexcept;
void stop_keeping(void* block) noexcept;

/// Effects: nothing is attached to the block any more; weak references to it are empty. Called when
/// it is freed. Requires: no lock.
void forget_attachments(const void* block) noexcept;

/// Effects: what is attached to `from` is attached to `to` from now on. Returns: whether there was
/// memory; if not, nothing changed. Requires: no lock; blocks begin at both, and nothing is
/// attached to `to`.
[[nodiscard]] bool move_attachments(const void* from, void* to) noexcept;

/// Effects: after marking: weak references to blocks without a mark are emptied, and finalizers of
/// such blocks become ready, unless another such block leads to theirs. What finalizers may use is
/// marked, by several markers if it is `worth_help`. Requires: a world that stands still; `roots`
/// is empty, and has room for one at least.
void settle_attachments(page_list<root>& roots, bool worth_help) noexcept;

/// Effects: nothing is attached to blocks without a mark any more, and cells in them are given
/// back. Requires: the lock; marks are complete; weak references to such blocks are empty, except
/// for those that are no longer of use to the program.
void forget_lost_attachments() noexcept;

} // namespace heapwise::gc
