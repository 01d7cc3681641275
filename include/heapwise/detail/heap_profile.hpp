// How much the heap distrusts its user: a policy that its fast paths take as a parameter.
#pragma once

namespace heapwise::detail {

/// Nothing is checked that costs an instruction.
struct fast_profile {
  static constexpr const char* name = "fast";
  static constexpr bool checks_last = false;
};

/// What is cheap is checked: a block freed twice in a row.
struct default_profile {
  static constexpr const char* name = "default";
  static constexpr bool checks_last = true;
};

} // namespace heapwise::detail
