#include "heap/last_resort.hpp"

#include "heap/batches.hpp"
#include "heap/bin.hpp"
#include "heap/caches.hpp"
#include "heap/large_stock.hpp"

namespace heapwise::detail {

void free_what_waits() noexcept {
  empty_own_cache();
  empty_idle_caches();
  for (size_class each = 1; each <= class_count; ++each) {
    the_bins[each].trim(each);
    the_bins[each].trim(each); // the first finds what was not used lately, the second takes all
    the_bins[each].drop_spare(each);
  }
  for (int twice = 0; twice < 2; ++twice) { // as the bins
    trim_large_stocks();
    trim_batches();
  }
}

} // namespace heapwise::detail
