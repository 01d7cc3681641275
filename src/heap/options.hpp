// What the environment asks of the heap.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwise::detail {

enum class when_invalid : std::uint8_t { abort, warn, ignore };

struct options {
  bool stats = false;                                     // HEAPWISE_STATS=1: a page at exit
  when_invalid invalid_free = when_invalid::abort;        // HEAPWISE_INVALID_FREE=abort|warn|ignore
  bool purge_thread = true;                               // HEAPWISE_PURGE_THREAD=0: no clock
  std::uint32_t purge_delay_ms = 500;                     // HEAPWISE_PURGE_DELAY_MS
  bool abort_without_memory = false;                      // HEAPWISE_OUT_OF_MEMORY=null|abort
  std::size_t limit_bytes = static_cast<std::size_t>(-1); // HEAPWISE_LIMIT_MIB
};

/// Read once, when the heap starts; the defaults until then.
extern options the_options;

/// Effects: reads the environment. What is unknown there, or cannot be read, is reported with one
/// line each and left at its default.
void read_options() noexcept;

} // namespace heapwise::detail
