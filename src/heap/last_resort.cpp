#include "heap/last_resort.hpp"

#include "heap/batches.hpp"
#include "heap/bins.hpp"
#include "heap/caches.hpp"
#include "heap/idle_caches.hpp"
#include "heap/large_quarantine.hpp"
#include "heap/large_stock.hpp"
#include "heap/profile.hpp"

namespace heapwise::detail {

void free_what_waits() noexcept {
  empty_own_cache();
  empty_idle_caches();
  trim_bins();
  trim_bins(); // the first finds what was not used lately, the second takes all
  drop_spares();
  if constexpr (chosen_profile::quarantines) release_held_large();
  for (int twice = 0; twice < 2; ++twice) { // as the bins
    trim_large_stocks();
    trim_batches();
  }
}

} // namespace heapwise::detail
