// The report of a fault: what is known of the address, the block and the threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heap/base/invalid.hpp"
#include "os/reports/faults.hpp"

namespace heapwise::detail {

struct fault_report {
  invalid kind{};
  const void* address = nullptr;
  const void* block = nullptr; // nullptr: not known
  std::size_t bytes = 0;       // usable; 0: not known
  std::uint64_t thread = 0;    // that made the fault, or found it
  os::stack_trace here;
  // Of a block in the guarded pages; a thread 0 is not known.
  std::uint64_t allocated_by = 0;
  std::uint64_t freed_by = 0;
  os::stack_trace allocated;
  os::stack_trace freed;
  // Of any block, if the option is set (call_sites.hpp); nullptr is not known.
  const void* allocated_at = nullptr;
  const void* freed_at = nullptr;
};

/// Returns: all that is known now.
[[nodiscard]] fault_report describe_fault(const void* address, invalid kind) noexcept;

/// Effects: writes lines on standard error.
void write_lines(const fault_report& fault) noexcept;

/// Effects: writes one line of JSON at the end of the file. Its members are described in
/// docs/how-to/choose-a-profile.md.
void write_json(const fault_report& fault, const char* path) noexcept;

} // namespace heapwise::detail
