#include "gc/state/state.hpp"

namespace heapwise::gc {

constinit state the_gc;

constinit thread_local thread_record* this_thread = nullptr;

} // namespace heapwise::gc
