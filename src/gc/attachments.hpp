// Blocks to which something is attached: that they are kept, finalizers, weak references.
#pragma once

#include <atomic>
#include <cstddef>

#include "gc/attachment_table.hpp"
#include "gc/page_list.hpp"

namespace heapwise::gc {

struct root;

/// A finalizer that is to be called.
struct ready_finalizer {
  void* block; // nullptr: it was freed meanwhile
  heapwise_gc_finalizer* call;
  void* argument;
};

/// Everything that is attached, and what became of it. Under the collector's lock.
struct attachments {
  attachment_table of_blocks;
  page_list<ready_finalizer> ready; // roots
  std::size_t taken = 0;            // of `ready`, from the first on
  weak_target* unused = nullptr;
  page_list<weak_target*> targets; // each the first of a page
  heapwise_gc_notice* notice = nullptr;
  void* notice_argument = nullptr;
  std::atomic<bool> notice_due{false}; // finalizers have become ready since the last one
};

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
