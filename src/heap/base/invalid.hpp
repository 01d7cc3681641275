// What can be wrong with an address that the heap is handed, and with a block that was written to
// where it must not be.
#pragma once

#include <cstdint>

namespace heapwise::detail {

enum class invalid : std::uint8_t {
  foreign,      // no address of the heap
  misaligned,   // of the heap, but not where any block can start
  inside_block, // of a block, but not its first byte
  freed_before, // a block that is free
  no_block,     // of the heap, where there is no block now
  // Only the profiles that check every call find these:
  wrong_size,        // deleted with a size or alignment that it was not made with
  overrun,           // the canary behind it was overwritten
  written_when_free, // found when it was to be used again
  touched_when_free, // in a guarded page
  touched_beyond,    // outside of the block in a guarded page
};

} // namespace heapwise::detail
