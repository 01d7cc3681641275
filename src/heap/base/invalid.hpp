// What the heap does when it is handed something that is not a block of its own, or finds one that
// was written to where it must not be.
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

/// Effects: by the option HEAPWISE_MALLOC_INVALID_FREE: reports and aborts (abort), reports (warn),
/// or nothing (ignore). Returns, if it does, with the address left alone. The profiles that check
/// every call always abort. A report is some lines on standard error, and one of JSON at the end of
/// the file that HEAPWISE_MALLOC_REPORT names. Nothing allocates meanwhile.
/// Requires: no lock is held.
void invalid_free(const void* address, invalid why) noexcept;

/// Effects: the same in a profile that checks every call, where it always ends the process.
/// Requires: such a profile, and that no lock is held.
[[noreturn]] void end_by_fault(const void* address, invalid why) noexcept;

} // namespace heapwise::detail
