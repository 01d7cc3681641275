// What the program part without exceptions and RTTI does for the tests.
#pragma once

namespace plain {

/// Uses pools, an arena and memory resources. Returns: 0, or the line that went wrong.
int use_everything();

/// Asks an exhausted pool for a block by the function that throws.
void exhaust_pool();

/// As exhaust_pool, of an arena and of the research allocator.
void exhaust_arena();
void exhaust_hybrid();

} // namespace plain
