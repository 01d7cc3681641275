// What collections have found, told to the program when no lock is held.
#pragma once

namespace heapwise::gc {

/// Effects: tells the program what collections have found: damage, and finalizers that are ready.
/// Requires: no lock.
void tell_program() noexcept;

} // namespace heapwise::gc
