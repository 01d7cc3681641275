// From a frame of the stack to the one that called it, by one rule.
//
// The unwinder of libgcc restores all registers of each frame and reads the unwind tables again
// each time, which takes some hundred nanoseconds a frame. Nearly every function has, at each of
// its calls, its frame at a fixed distance from the stack pointer or the frame pointer. This rule
// is read once for a return address and kept.
#pragma once

#include <cstdint>

#include "os/reports/caller_rule.hpp"

namespace heapwise::bench {

using os::caller_rule;

/// Reads the unwind tables. `address` is that of a byte of the instruction that calls.
[[nodiscard]] caller_rule read_caller_rule(std::uint64_t address) noexcept;

/// The same for a return address, or from a small table of what was read before.
[[nodiscard]] caller_rule caller_rule_of(std::uint64_t return_address) noexcept;

/// Whether the function that the site returns to may hold the lock of libgcc under which unwind
/// tables are searched: libgcc sorts the tables of code that was made at run time when it searches
/// them first, and allocates for that. Nothing may ask it for a rule then.
[[nodiscard]] bool searches_tables(std::uint64_t site) noexcept;

/// A library was loaded, perhaps where another one was: rules are read again.
void forget_caller_rules() noexcept;

/// In a forked child: no other thread changes the table.
void leave_caller_rules() noexcept;

} // namespace heapwise::bench
