// All blocks that can be reached, shown to the program.
#pragma once

namespace heapwise::gc {

/// Effects: calls the visitor of the program, if there is one, for each block that has a mark.
/// Requires: the world stands still, and marks are complete.
void show_marked_blocks() noexcept;

} // namespace heapwise::gc
