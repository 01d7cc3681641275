#include "heap/last_resort.hpp"

#include "heap/bin.hpp"
#include "heap/caches.hpp"

namespace heapwise::detail {

void free_what_waits() noexcept {
  empty_own_cache();
  empty_idle_caches();
  for (size_class of = 1; of <= class_count; ++of) {
    the_bins[of].trim(of);
    the_bins[of].trim(of); // the first finds what was not used lately, the second takes all
    the_bins[of].drop_spare(of);
  }
}

} // namespace heapwise::detail
