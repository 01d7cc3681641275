// Plays a tape to an allocator. A source is anything with
//     void* allocate(std::size_t bytes);
//     void deallocate(void* block, std::size_t bytes);   // bytes as they were asked for
#pragma once

#include <cstddef>
#include <span>

#include "harness/escape.hpp"
#include "workload/block_use.hpp"
#include "workload/tape.hpp"

namespace heapwise::bench {

/// The timed loop of all tapes: the source's work and the use of the blocks, no more. write: one
/// byte of each new block; all: every byte of it, read before the block is freed. `slots` has room
/// for as many blocks as the tape has slots. Not for a source that returns null.
template <touching how = touching::write, class Source>
void replay(Source& source, std::span<const operation> operations, void** slots) {
  for (const operation each : operations) {
    void*& slot = slots[each.slot()];
    if (each.frees()) {
      if constexpr (how == touching::all) use_last<how>(slot, each.bytes());
      source.deallocate(slot, each.bytes());
      clobber();
    } else {
      slot = source.allocate(each.bytes());
      use_new<how>(slot, each.bytes());
      escape(slot);
    }
  }
}

} // namespace heapwise::bench
