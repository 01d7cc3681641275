// How much the heap distrusts its user: a value that its fast paths take as a parameter. Each
// profile is written as what it has more than the one before.
#pragma once

#include <cstddef>

namespace heapwise::detail {

struct protection {
  const char* name;
  bool checks_last = false;     ///< a block freed twice in a row is found
  bool samples_guards = false;  ///< some blocks lie between pages without access
  bool keeps_states = false;    ///< every free is checked, by a byte for each granule
  bool scatters_tables = false; ///< the heap's tables lie at random distances
  bool seals_facts = false;     ///< where they lie is read-only once the heap has started
  std::size_t canary_bytes = 0; ///< behind each small block
  bool clears = false;          ///< free blocks are zeros, and are checked to be when used again
  bool guards_large = false;    ///< pages without access follow each large block
  bool guards_spans = false;    ///< and each span of small blocks
  bool scatters_blocks = false; ///< fresh blocks are every second one of a span, by chance
  bool quarantines = false;     ///< a block that was freed waits
};

/// Nothing is checked that costs an instruction.
inline constexpr protection fast_profile{.name = "fast"};

/// What is cheap is checked: a block freed twice in a row. Some blocks lie between pages without
/// access if an option asks for them.
inline constexpr protection default_profile = [](protection more) {
  more.name = "default";
  more.checks_last = true;
  more.samples_guards = true;
  return more;
}(fast_profile);

/// Every free is checked exactly. Inlined paths find no cache, and end in the library, which
/// checks. Some blocks lie between pages without access. The heap's tables lie at random distances
/// from each other and from the blocks.
inline constexpr protection guarded_profile = [](protection more) {
  more.name = "guarded";
  more.keeps_states = true;
  more.scatters_tables = true;
  more.seals_facts = true;
  return more;
}(default_profile);

/// The same, and a canary ends each small block; free blocks are zeros; hidden pages end large
/// blocks and spans; a block that was freed waits in a quarantine.
inline constexpr protection hardened_profile = [](protection more) {
  more.name = "hardened";
  more.canary_bytes = 8;
  more.clears = true;
  more.guards_large = true;
  more.guards_spans = true;
  more.scatters_blocks = true;
  more.quarantines = true;
  return more;
}(guarded_profile);

} // namespace heapwise::detail
