#include "heap/checks/call_sites.hpp"

#include <cstddef>
#include <cstdint>

#include "heap/base/options.hpp"
#include "heap/space/space.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "options/text.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"
#include "os/reports/faults.hpp"

namespace heapwise::detail {

namespace {

/// The sites of all blocks that begin in this many bytes of the heap are mapped at once, when the
/// first of them is allocated. So a program that locks its memory does not lock sites for all
/// addresses that the heap may ever use.
constexpr std::size_t region_bytes = std::size_t{4} << 20;
constexpr std::size_t sites_in_region = region_bytes / granule_bytes;

/// Returns: where the call of this library returns to that the thread is in. All functions of these
/// profiles have frames.
HEAPWISE_ALWAYS_INLINE const void* call_of_library() noexcept {
  const auto* at = static_cast<const os::frame*>(__builtin_frame_address(0));
  while (the_facts.code.holds(at->returns_to)) at = at->caller;
  return at->returns_to;
}

/// Returns: how many granules an address of the heap is from its begin on.
std::size_t granule_of(const void* address) noexcept {
  return static_cast<std::size_t>(static_cast<const std::byte*>(address) -
                                  the_space.address_of(0)) /
         granule_bytes;
}

/// Returns: the sites of a block, or nullptr without memory.
block_sites* sites_for(const void* block) noexcept {
  const std::size_t granule = granule_of(block);
  std::atomic<block_sites*>& region = the_facts.sites[granule / sites_in_region];
  // Acquire: pairs with the exchange. The pages are there.
  block_sites* sites = region.load(std::memory_order_acquire);
  if (sites == nullptr) {
    constexpr std::size_t bytes = sites_in_region * sizeof(block_sites);
    auto* const fresh = static_cast<block_sites*>(os::map(bytes, alignof(block_sites)));
    if (fresh == nullptr) return nullptr;
    // Another thread may have mapped them meanwhile: then `sites` are those.
    if (region.compare_exchange_strong(sites, fresh, std::memory_order_acq_rel)) {
      sites = fresh;
    } else {
      os::unmap(fresh, bytes);
    }
  }
  return sites + granule % sites_in_region;
}

void refuse(const char* reason) noexcept {
  text line;
  line.add("heapwise: HEAPWISE_MALLOC_CALL_SITES=1: ").add(reason).add("\n").write();
}

} // namespace

void start_call_sites() noexcept {
  if (!the_options.call_sites || the_facts.sites != nullptr) return;
  expects([] { return the_space.reserved_bytes() > 0; }, "the space has started");
  the_facts.code = os::own_code();
  if (!the_facts.code.holds(reinterpret_cast<const void*>(start_call_sites))) {
    return refuse(
        "the heap is linked into another file, so it cannot tell its calls from others; it is "
        "ignored. Next: link or preload the shared library");
  }
  const std::size_t regions = the_space.reserved_bytes() / region_bytes + 1;
  const std::size_t bytes = round_up(regions * sizeof(std::atomic<block_sites*>), os::page_bytes());
  the_facts.sites = static_cast<std::atomic<block_sites*>*>(os::map(bytes, os::page_bytes()));
  if (the_facts.sites == nullptr) {
    refuse("the system refused the memory; it is ignored. Next: raise the limit of memory");
  }
}

const block_sites* sites_of(const void* address) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  if (the_facts.sites == nullptr || !the_space.holds(address) || bits % granule_bytes != 0) {
    return nullptr;
  }
  const std::size_t granule = granule_of(address);
  // Acquire: as in sites_for.
  const block_sites* const region =
      the_facts.sites[granule / sites_in_region].load(std::memory_order_acquire);
  return region == nullptr ? nullptr : region + granule % sites_in_region;
}

// Relaxed, all of them: the block goes from thread to thread with an order of its own.

void keep_allocated(const void* block) noexcept {
  if (block_sites* const sites = sites_for(block)) {
    sites->freed.store(nullptr, std::memory_order_relaxed);
    sites->allocated.store(call_of_library(), std::memory_order_relaxed);
  }
}

void keep_freed(const void* block) noexcept {
  if (block_sites* const sites = sites_for(block)) {
    sites->freed.store(call_of_library(), std::memory_order_relaxed);
  }
}

} // namespace heapwise::detail
