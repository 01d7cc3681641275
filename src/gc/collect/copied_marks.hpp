// What a copy of the process has found, taken over.
#pragma once

namespace heapwise::gc {

/// Returns: whether the program has got a block meanwhile that the copy found to be lost. Requires:
/// the lock; the copy has found all.
[[nodiscard]] bool program_got_what_is_lost() noexcept;

/// Effects: the marks are those of the copy, and blocks handed out meanwhile are marked, too; weak
/// references and finalizers are settled. Requires: wait_for_copy() said that it can be used; no
/// thread marks what it hands out any more; the lock.
void take_marks_of_copy() noexcept;

} // namespace heapwise::gc
