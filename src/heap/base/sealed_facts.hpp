// What the heap finds out while it starts and never changes again: where its tables are, and the
// numbers that nobody may guess. The profiles that check every call keep it in pages of their own,
// which are read-only once the heap has started. So a write through a wrong address cannot make the
// heap look for its tables, its guarded pages or its secrets elsewhere: it faults.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/base/profile.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/reports/faults.hpp"

namespace heapwise::detail {

/// The alignment of facts that are sealed: no page of the system is larger, so that nothing else
/// lies in their pages. In other profiles they have lines of their own, as all threads read them.
#if defined(__x86_64__)
inline constexpr std::size_t largest_page_bytes = std::size_t{4} << 10;
#else
inline constexpr std::size_t largest_page_bytes = std::size_t{64} << 10;
#endif
inline constexpr std::size_t seal_alignment =
    chosen_profile.seals_facts ? largest_page_bytes : cache_line_bytes;

/// The alignment of a member with which that part of an object begins that is not sealed.
template <class T>
inline constexpr std::size_t alignment_behind_seal =
    chosen_profile.seals_facts ? seal_alignment : alignof(T);

struct block_sites;

/// Requests of fewer bytes than this are small: blocks of some class serve them.
inline constexpr std::size_t end_of_small_bytes = max_small_bytes - canary_bytes + 1;

/// What the operators of C++ look at that the standard defines by calls of other operators, for
/// instance `new[]` by `new`. With an empty map and no small sizes they end at their slow paths,
/// which make these calls. So it is until the heap starts. It stays so if the program has replaced
/// an operator that they are to call.
struct derived_operators {
  heap_map map;
  std::size_t end_of_small = 0; // or end_of_small_bytes

  [[nodiscard]] bool may_call_the_heap() const noexcept { return end_of_small != 0; }
};

struct alignas(seal_alignment) sealed_facts {
  heap_map map; // where the heap lives; every cache has a copy
  derived_operators derived;
  /// A word that no other process can guess, for canaries.
  std::uint64_t canary_secret = 0;
  /// Another one, for the links of heaps of their own: a program can read its canaries.
  std::uintptr_t link_secret = 0;
  /// Where the call sites of blocks are kept (call_sites.hpp); nullptr unless an option asks for
  /// it.
  std::atomic<block_sites*>* sites = nullptr;
  os::address_range code; // of this library; set with `sites`
};

extern sealed_facts the_facts;

} // namespace heapwise::detail
