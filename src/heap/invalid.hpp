// What the heap does when it is handed something that is not a block of its own.
#pragma once

#include <cstdint>

namespace heapwise::detail {

enum class invalid : std::uint8_t {
  foreign,      // no address of the heap
  misaligned,   // of the heap, but not where any block can start
  inside_block, // of a block, but not its first byte
  freed_before, // a block that is free
  no_block,     // of the heap, where there is no block now
};

/// Effects: by the option HEAPWISE_MALLOC_INVALID_FREE: writes a line on standard error and aborts
/// (abort), writes the line (warn), or nothing (ignore). Returns, if it does, with the address left
/// alone.
void invalid_free(const void* address, invalid why) noexcept;

} // namespace heapwise::detail
