// References that do not keep a block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gc/attachments/attachments.hpp"

namespace heapwise::gc {

/// What a cell of the program refers to. Its page is never unmapped: a thread may read it while
/// another one gives it back. Written under the collector's lock, or while the world stands still.
struct weak_target {
  std::atomic<void*> block;     // nullptr: none any more. Read without a lock
  const heapwise_gc_weak* cell; // nullptr: unused
  weak_target* next;            // of the same block; or unused, too
  bool until_freed;             // stays while the block's finalizer waits and runs
  std::uint32_t read_in;        // ages of the space in which this was read and written last,
  std::uint32_t written_in;     // as far as copies of the process mark
};

/// Effects: the cell refers to the block, or to nothing. Returns: 0; ENOMEM; EINVAL if no block
/// begins there.
[[nodiscard]] int set_weak(heapwise_gc_weak& cell, void* block, bool until_freed) noexcept;

/// Returns: the block, which lives as long as the caller holds it; or nullptr. Requires: a
/// registered thread, no lock.
[[nodiscard]] void* get_weak(const heapwise_gc_weak& cell) noexcept;

/// Effects: these refer to another block. Requires: the lock.
void refer_to(weak_target* first, void* block) noexcept;

/// Effects: references to this block refer to nothing. Requires: the lock.
void empty_weak_references(attachment& entry) noexcept;

/// Effects: the same for blocks without a mark, either for those references that last until the
/// block is freed or for the others. Requires: a world that stands still.
void empty_lost_weak_references(bool until_freed) noexcept;

/// Effects: gives back the targets of cells that lie in blocks without a mark. Requires: as above.
void give_back_lost_cells() noexcept;

/// Returns: how many targets there may be. Requires: the lock.
[[nodiscard]] std::size_t most_targets() noexcept;

/// Effects: writes down which targets are empty. Returns: how many. Requires: room for
/// most_targets.
std::size_t list_empty_targets(weak_target** into) noexcept;

/// Returns: whether the program got the block of one of these in this age. Requires: the lock.
[[nodiscard]] bool somebody_read(weak_target* const* targets, std::size_t count) noexcept;

/// Effects: these refer to nothing, except for those that were written in this age.
/// Requires: the lock.
void empty_targets(weak_target* const* targets, std::size_t count) noexcept;

/// Returns: how many cells refer, or referred, to something. Requires: the lock.
[[nodiscard]] std::size_t weak_count() noexcept;

} // namespace heapwise::gc
