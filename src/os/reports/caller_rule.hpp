// From a frame of the stack to the one that called it, by one rule, which the unwind tables of
// DWARF give for each call. Only for x86-64.
#pragma once

#include <cstdint>

namespace heapwise::os {

/// The canonical frame address (CFA) of DWARF is where the stack pointer stands after the function
/// has returned. The return address lies in the 8 bytes before it.
struct caller_rule {
  enum class base : std::uint8_t {
    unknown = 0, ///< the tables say it in a way that no rule has
    none = 1,    ///< the frame has no caller
    stack_pointer = 2,
    frame_pointer = 3,
    /// The CFA stands in a word at the distance from the frame pointer, which points to the
    /// caller's own: a function whose variables need more alignment than the stack has.
    word_at_frame_pointer = 4,
  };

  base from = base::unknown;
  std::int32_t distance = 0; ///< of the CFA or of that word, from the register
  /// Where the caller's frame pointer is kept, from the CFA; 0: the register still has it.
  std::int16_t kept_frame_pointer = 0;

  friend bool operator==(const caller_rule&, const caller_rule&) = default;
};

/// Returns: the rule that an entry of unwind tables (an FDE) has for the instruction at `address`;
/// `unknown` if it has none of this kind. `function` is where the function begins. Reads only the
/// tables, and allocates nothing.
[[nodiscard]] caller_rule read_caller_rule(const unsigned char* entry, std::uint64_t function,
                                           std::uint64_t address) noexcept;

} // namespace heapwise::os
