// What the collector knows of a thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gc/base/exported.hpp"
#include "gc/base/kinds.hpp"
#include "gc/space/space.hpp"
#include "os/collector/thread_variables.hpp"
#include "os/collector/world.hpp"
#include "os/mutex.hpp"

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

inline char nowhere;

/// A window that is at its end.
inline constexpr window no_window{&nowhere, &nowhere};

/// The calling thread's record; nullptr when it is not registered.
extern constinit thread_local thread_record* this_thread;

} // namespace heapwise::gc
