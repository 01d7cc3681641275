
#include "heap/base/profile.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/central/batches.hpp"
#include "heap/central/bins.hpp"
#include "heap/large/large_quarantine.hpp"
#include "heap/large/large_stock.hpp"

namespace heapwise::detail {

void free_what_waits() noexcept {
  empty_own_cache();
  empty_idle_caches();
  release_old_spares(0); // of all threads
  trim_bins();
  trim_bins(); // the first finds what was not used lately, the second takes all
  drop_spares();
  if constexpr (chosen_profile.quarantines) release_held_large();
  for (int twice = 0; twice < 2; ++twice) { // as the bins
    trim_large_stocks();
    trim_batches();
  }
}

} // namespace heapwise::detail
