// Everything that the collector knows, in one place. It is not a root: what it holds of blocks must
// not keep them alive.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gc/attachments.hpp"
#include "gc/exported.hpp"
#include "gc/kinds.hpp"
#include "gc/marking_copy.hpp"
#include "gc/pace.hpp"
#include "gc/page_list.hpp"
#include "gc/space.hpp"
#include "os/fair_mutex.hpp"
#include "os/thread_variables.hpp"
#include "os/world.hpp"

namespace heapwise::gc {

using window = heapwise_gc_window;

/// A span that a thread is sweeping.
struct cursor {
  slice_index slice = no_slice;
  std::uint32_t next = 0; // the first block that was not looked at
  bool clean = false;     // its bytes are zero from here on
};

/// A thread, or what a thread left behind for the next. Lives on pages of its own, never unmapped.
struct thread_record {
  std::array<window, small_kinds> windows; // first: gc.h indexes them. Used by the thread alone
  // For the members below. Held by the thread while it gets a window, and by a thread that stops
  // it.
  os::mutex lock;
  std::array<cursor, small_kinds> cursors;
  std::array<std::byte*, small_kinds> freed; // blocks that the program gave back, linked
  std::size_t allocated_bytes;
  std::size_t freed_bytes;
  std::uint64_t rest_ns; // before it goes on: a copy of the process marks. Used by the thread alone
  bool marks_handed_out; // the blocks of its windows: a copy of the process marks meanwhile

  thread_record* next;
  os::thread_id id;
  os::thread_number number;
  os::memory_range stack;       // its own
  const void* stack_lowest;     // while it is stopped: the stack pointer, wherever it is
  const void* signal_stack_end; // while it is stopped on its alternate signal stack, else nullptr
  std::atomic<std::uint32_t> stopped_in; // the epoch it was stopped in last
  std::atomic<bool> interrupted;         // it was sent a signal that it has not taken yet
  os::thread_table variables; // while it is stopped: where its thread-local variables are
  std::size_t values;
  std::array<const void*, os::most_thread_values> value; // of pthread keys
};

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

struct settings {
  std::size_t markers = 0;
  std::size_t free_space_divisor = 3;
  std::size_t limit_bytes = 0;
  std::size_t mark_stack_bytes = std::size_t{256} << 20;
  std::size_t concurrent_bytes = 0; // live bytes from which on a copy marks; 0: never
  int signal = os::default_signal;  // stops threads
  bool interior = false;
  bool past_end = false;         // an address one past the end counts everywhere, too
  bool register_threads = false; // at their first call
  bool find_leaks = false;
  bool debug = false;
  bool stats = false;
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

extern state the_gc;

/// A window that is at its end.
extern const window no_window;

/// The calling thread's record; nullptr when it is not registered.
extern thread_local thread_record* this_thread;

} // namespace heapwise::gc
