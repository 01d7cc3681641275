// How much the heap distrusts its user: a policy that its fast paths take as a parameter.
#pragma once

#include <cstddef>

namespace heapwise::detail {

/// Nothing is checked that costs an instruction.
struct fast_profile {
  static constexpr const char* name = "fast";
  static constexpr bool checks_last = false;
  static constexpr bool keeps_states = false;
  static constexpr bool clears = false;
  static constexpr std::size_t canary_bytes = 0;
  static constexpr bool samples_guards = false;
  static constexpr bool guards_large = false;
  static constexpr bool guards_spans = false;
  static constexpr bool scatters_blocks = false;
  static constexpr bool scatters_tables = false;
  static constexpr bool seals_facts = false;
  static constexpr bool quarantines = false;
};

/// What is cheap is checked: a block freed twice in a row. Some blocks lie between pages without
/// access if an option asks for them.
struct default_profile {
  static constexpr const char* name = "default";
  static constexpr bool checks_last = true;
  static constexpr bool keeps_states = false;
  static constexpr bool clears = false;
  static constexpr std::size_t canary_bytes = 0;
  static constexpr bool samples_guards = true;
  static constexpr bool guards_large = false;
  static constexpr bool guards_spans = false;
  static constexpr bool scatters_blocks = false;
  static constexpr bool scatters_tables = false;
  static constexpr bool seals_facts = false;
  static constexpr bool quarantines = false;
};

/// Every free is checked exactly, by a byte for each granule. Inlined paths find no cache, and end
/// in the library, which checks. Some blocks lie between pages without access. The heap's tables
/// lie at random distances from each other and from the blocks; where they lie is read-only once
/// the heap has started.
struct guarded_profile {
  static constexpr const char* name = "guarded";
  static constexpr bool checks_last = true;
  static constexpr bool keeps_states = true;
  static constexpr bool clears = false;
  static constexpr std::size_t canary_bytes = 0;
  static constexpr bool samples_guards = true;
  static constexpr bool guards_large = false;
  static constexpr bool guards_spans = false;
  static constexpr bool scatters_blocks = false;
  static constexpr bool scatters_tables = true;
  static constexpr bool seals_facts = true;
  static constexpr bool quarantines = false;
};

/// The same, and a canary ends each small block; free blocks are zeros, and are checked to be when
/// they are used again. Pages without access follow each large block and each span of small ones. A
/// block that was freed waits in a quarantine. Fresh blocks are every second one of a span, by
/// chance.
struct hardened_profile {
  static constexpr const char* name = "hardened";
  static constexpr bool checks_last = true;
  static constexpr bool keeps_states = true;
  static constexpr bool clears = true;
  static constexpr std::size_t canary_bytes = 8;
  static constexpr bool samples_guards = true;
  static constexpr bool guards_large = true;
  static constexpr bool guards_spans = true;
  static constexpr bool scatters_blocks = true;
  static constexpr bool scatters_tables = true;
  static constexpr bool seals_facts = true;
  static constexpr bool quarantines = true;
};

} // namespace heapwise::detail
