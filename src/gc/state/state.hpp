// Everything that the collector knows, in one place. It is not a root: what it holds of blocks must
// not keep them alive.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gc/base/exported.hpp"
#include "gc/base/pace.hpp"
#include "gc/base/page_list.hpp"
#include "gc/base/settings.hpp"
#include "gc/space/space.hpp"
#include "gc/state/attached.hpp"
#include "gc/state/marking_copy.hpp"
#include "gc/state/thread_record.hpp"
#include "gc/state/thread_result.hpp"
#include "os/collector/world.hpp"
#include "os/fair_mutex.hpp"

namespace heapwise::gc {

/// Where layouts are written down, one behind the other.
struct layout_room {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
};

struct leak {
  void* block;
  std::size_t bytes;
};

/// A block whose guard was overwritten.
struct damaged_block {
  void* block = nullptr;
  std::size_t bytes = 0;        // that were asked for, as far as that is known
  const void* caller = nullptr; // the code that asked; nullptr: it is not known
};

/// Functions of the program that are called while the lock is held.
struct event_reports {
  heapwise_gc_event_report* report = nullptr;
  void* argument = nullptr;
  heapwise_gc_thread_report* thread_report = nullptr;
  void* thread_argument = nullptr;
};

/// Order of locks: the collector's, those of threads, that of dl_iterate_phdr. A collection takes
/// all of them. So no thread may wait for the collector's lock inside of dl_iterate_phdr. The
/// collector calls dl_iterate_phdr only with its own lock held, and a fork waits for that lock. So
/// the threads of the collector never leave the lock of dl_iterate_phdr to the child of a fork.
///
/// The start is an exception: heapwise_gc_init looks at the loader before it takes the collector's
/// lock, by dlsym and dl_iterate_phdr. dlsym takes the lock that dlopen holds while it runs
/// constructors, and a constructor may wait for the collector's lock. A fork does not wait for this
/// look, and may leave the lock of dl_iterate_phdr to the child.
struct state {
  // Fair: a program may collect in a loop, and no other thread can do without the lock for long.
  os::fair_mutex lock; // for all that follows, but where it says otherwise
  space memory;        // its tables may be read without
  os::loader_layout loader;
  std::array<slice_index, small_kinds> unswept{}; // lists of spans in which blocks may be free
  thread_record* threads = nullptr;
  thread_record* idle = nullptr;
  std::size_t thread_count = 0;
  page_list<thread_result> results; // of threads that are not joined yet. Roots
  std::size_t last_result = 0;      // the number of the newest of these cells
  std::size_t disabled = 0;
  settings chosen;
  // Windows have room for one block: each is noted down, or made longer than the size that callers
  // know. Written at the start.
  bool one_by_one = false;
  page_list<os::memory_range> added_roots;
  page_list<os::memory_range> added_stacks;
  page_list<os::memory_range> excluded_roots; // of static data
  layout_room layouts;
  attachments attached;
  marking_copy copy;
  page_list<leak> leaks;          // found, and held until all of them are reported
  std::size_t leaks_reported = 0; // of these, from the first on: reported, or just being reported
  std::size_t leak_reports = 0;   // that were begun and are not over
  heapwise_gc_leak_report* report = nullptr;
  void* report_argument = nullptr;
  page_list<damaged_block> damaged; // to be reported
  std::atomic<bool> damage_found{false};
  heapwise_gc_damage_report* damage_report = nullptr;
  void* damage_argument = nullptr;
  heapwise_gc_no_memory* without_memory = nullptr;
  void* without_memory_argument = nullptr;
  heapwise_gc_collection_report* collection_report = nullptr;
  void* collection_argument = nullptr;
  heapwise_gc_collection last_collection{};
  std::atomic<bool> collection_to_tell{false};
  event_reports events;
  heapwise_gc_block_visitor* visitor = nullptr; // during the collection that it is for
  void* visitor_argument = nullptr;
  heapwise_gc_warning* warning = nullptr;
  void* warning_argument = nullptr;

  std::atomic<std::uint32_t> epoch{0};   // odd while the world is stopped. Written under the lock
  std::atomic<std::uint32_t> stopped{0}; // changes whenever a thread has stopped
  std::atomic<bool> started{false};
  os::signal_mask signals = 0; // of the collecting thread, before the world was stopped

  std::size_t target_bytes = 0; // collect before the heap takes more
  std::size_t handed_bytes = 0; // free bytes in spans handed out since the last collection
  std::size_t budget_bytes = 0; // what may be allocated between two collections
  std::size_t worth_bytes = 0;  // no collection before as much was handed out
  std::size_t kept_bytes = 0;   // of used and free memory; what is beyond goes back to the system
  std::size_t part_bytes = 0;   // that go back with the next span; 0: nothing is beyond
  growth_beside_copy last_copy; // of those that have marked
  pacer pace;                   // while a copy marks
  marking_speed speed_of_copies;
  std::size_t allocated_at_copy = 0;     // by the program, before the copy was made
  std::size_t reached_bytes = 0;         // live, without what was handed out while a copy marked
  std::size_t ended_allocated_bytes = 0; // of threads that ended, and of large blocks
  std::size_t ended_freed_bytes = 0;
  std::size_t in_use_bytes = 0; // after the last collection
  std::size_t allocated_then = 0;
  std::size_t freed_then = 0;
  heapwise_gc_statistics counted{};
};

extern constinit state the_gc;

} // namespace heapwise::gc
