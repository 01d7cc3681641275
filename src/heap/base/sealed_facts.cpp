#include "heap/base/sealed_facts.hpp"

namespace heapwise::detail {

constinit sealed_facts the_facts;

} // namespace heapwise::detail
