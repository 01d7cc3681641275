// From a frame of the stack to the one that called it, by one rule.
//
// The unwinder of libgcc restores all registers of each frame and reads the unwind tables again
// each time, which takes some hundred nanoseconds a frame. Nearly every function has, at each of
// its calls, its frame at a fixed distance from the stack pointer or the frame pointer. This rule
// is read once for a return address and kept.
#pragma once

#include <cstdint>

namespace heapwise::bench {

/// The canonical frame address (CFA) of DWARF is where the stack pointer stands after the function
/// has returned. The return address lies in the 8 bytes before it.
struct caller_rule {
  enum class base : std::uint8_t {
    unknown = 0, ///< the tables say it in a way that no rule has
    none = 1,    ///< the frame has no caller
    stack_pointer = 2,
    frame_pointer = 3,
  };

  base from = base::unknown;
  std::int32_t distance = 0; ///< of the CFA, from the register
  /// Where the caller's frame pointer is kept, from the CFA; 0: the register still has it.
  std::int16_t kept_frame_pointer = 0;

  friend bool operator==(const caller_rule&, const caller_rule&) = default;
};

/// Reads the unwind tables. `address` is that of a byte of the instruction that calls.
[[nodiscard]] caller_rule read_caller_rule(std::uint64_t address) noexcept;

/// The same for a return address, or from a small table of what was read before.
[[nodiscard]] caller_rule caller_rule_of(std::uint64_t return_address) noexcept;

/// A library was loaded, perhaps where another one was: rules are read again.
void forget_caller_rules() noexcept;

} // namespace heapwise::bench
