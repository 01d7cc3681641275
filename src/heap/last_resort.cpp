#include "heap/last_resort.hpp"

#include "heap/batches.hpp"
#include "heap/bin.hpp"
#include "heap/caches.hpp"

namespace heapwise::detail {

void free_what_waits() noexcept {
  empty_own_cache();
  empty_idle_caches();
  for (size_class each = 1; each <= class_count; ++each) {
    the_bins[each].trim(each);
    the_bins[each].trim(each); // the first finds what was not used lately, the second takes all
    the_bins[each].drop_spare(each);
  }
  for (int twice = 0; twice < 2; ++twice) trim_batches(); // as the bins
}

} // namespace heapwise::detail
