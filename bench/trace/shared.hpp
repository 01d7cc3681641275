// The memory that recorded processes and the drain share: one ring of events for each thread.
//
// The drain makes it (a memory file, so that it outlives a recorded process that is killed) and
// names it to the process by a path. Each ring has one writer, its thread, and one reader, the
// drain. A forked child has the mapping of its parent, and takes an entry and rings of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace/drain_alarm.hpp"
#include "trace/event.hpp"
#include "trace/exec_note.hpp"
#include "trace/image_log.hpp"
#include "trace/room_alarm.hpp"

namespace heapwise::bench {

/// The variable by which the recorder finds the shared memory.
inline constexpr const char* record_variable = "HEAPWISE_RECORD";
/// The variable with the descriptor of the same memory, as handed_file writes it: a process of
/// another user, or in another root directory, has it, and cannot open the path.
inline constexpr const char* record_file_variable = "HEAPWISE_RECORD_FILE";

inline constexpr std::uint64_t shared_magic = 0x3131'4345'5257'4848; // "HHWREC11"
inline constexpr unsigned most_threads = 4096;                       ///< at one time, of all
inline constexpr unsigned most_processes = 1024;                     ///< at one time
inline constexpr unsigned most_started = 128;                        ///< children, see exec_note
inline constexpr std::uint64_t ring_events = 131072;                 ///< 2 MiB
/// When a thread has written this many events that the drain has not read, it calls the drain.
inline constexpr std::uint64_t events_to_alarm = ring_events / 4;

/// Return addresses that a thread has written as event_kind::site, by their places. Only the thread
/// itself reads them: they lie before its ring, where a thread with a small stack has room for
/// them.
inline constexpr std::uint64_t site_places = std::uint64_t{1} << event::place_bits;

/// free -> live (the thread, by compare and swap) -> ended (the drain, when the kernel says that
/// the thread is gone, or a new image of the process) -> free (the drain, when the ring is empty).
enum class slot_state : std::uint32_t { free = 0, live = 1, ended = 2 };

/// Of a slot that no thread has, or whose thread has not said yet whose it is. 0, as a new file is.
inline constexpr std::uint32_t no_process = 0;

struct thread_slot {
  /// Events written so far. The writer publishes with release; the drain reads with acquire.
  alignas(64) std::atomic<std::uint64_t> written{0};
  /// Events read so far. The drain publishes with release, so that the writer may overwrite them.
  alignas(64) std::atomic<std::uint64_t> read{0};
  /// The thread waits for it if its ring is full. The drain stores both, so they share a line.
  room_alarm room;
  alignas(64) std::atomic<slot_state> state{slot_state::free};
  std::atomic<std::int32_t> kernel_id{0}; ///< of the thread; 0 until it is known
  /// The entry of its process, counted from 1: set before the first event.
  std::atomic<std::uint32_t> process{no_process};
};

/// A process that is recorded. The process takes a free entry; the drain frees it when the process
/// has ended and its events were read.
struct process_entry {
  alignas(64) std::atomic<std::int32_t> id{0}; ///< 0: the entry is free
  std::atomic<std::int32_t> parent{0};
  /// As /proc says it: tells a process from a later one with the same number. 0: not known.
  std::atomic<std::uint64_t> start_time{0};
  std::atomic<std::uint64_t> first_stamp{0}; ///< before all of its events
  /// Released when the fields above are right.
  std::atomic<bool> is_ready{false};
  std::atomic<bool> is_forked{false};           ///< it began as a copy of its parent, not with exec
  std::atomic<std::uint32_t> images{0};         ///< how many programs the process has been
  std::atomic<std::uint64_t> threads_missed{0}; ///< for which no slot was free
  /// After the drain had gone, or of a child of vfork whose thread had no slot.
  std::atomic<std::uint64_t> events_missed{0};
};

/// What addresses mean: lines of /proc/self/maps as they were when a library was new, and frames of
/// Python.
struct maps_text {
  static constexpr std::uint32_t most_bytes = 4U << 20;

  std::atomic<std::uint32_t> busy{0};
  std::atomic<std::uint32_t> bytes{0};  ///< released by the writer, acquired by the drain
  std::atomic<std::uint64_t> loaded{0}; ///< how many objects the loader had loaded at the last look
  char text[most_bytes];

  void clear() noexcept {
    busy.store(0, std::memory_order_relaxed);
    loaded.store(0, std::memory_order_relaxed);
    bytes.store(0, std::memory_order_relaxed);
  }
};

/// What a process says of itself in words.
struct process_texts {
  image_log images;
  maps_text maps;
  exec_note next; ///< what the process is about to become
};

/// off: nobody reads what would be written. paused: only ends of known blocks are of interest.
enum class recording_state : std::uint32_t { off = 0, on = 1, paused = 2 };

/// Zeros are its initial state: the drain takes a new file as it is, for to write to all of its
/// pages takes longer than all else before the program starts.
struct shared_memory {
  std::uint64_t magic = 0;
  std::atomic<std::int32_t> drain{0};
  /// Whether children are recorded. If not, only the process of the first entry is.
  bool follows = false;
  /// For how many the file has room. Fewer than most_processes and most_threads if the size of
  /// files is limited.
  std::uint32_t process_room = 0;
  std::uint32_t thread_room = 0;
  /// Of the drain: process numbers of another namespace mean other processes.
  std::uint64_t process_namespace = 0;
  /// Of the drain: times since the boot of another namespace mean other moments.
  std::uint64_t time_namespace = 0;
  /// Set by the drain.
  std::atomic<recording_state> recording{recording_state::off};
  std::uint32_t stack_every = 0; ///< of how many allocations of a thread one has its stack; 0: none
  /// 1: stacks are found by frame pointers, which the program must have. 0: by unwind tables.
  std::uint32_t frame_pointers = 0;
  /// 0: each call is written down. Else the mean number of bytes from one sample to the next.
  std::uint64_t sample_every = 0;
  std::atomic<std::uint32_t> slots_used{0};       ///< slots from here on were never taken
  std::atomic<std::uint32_t> processes_used{0};   ///< entries from here on were never taken
  std::atomic<std::uint64_t> other_processes{0};  ///< that began to run and are not recorded
  std::atomic<std::uint64_t> forked_processes{0}; ///< of these, copies that made calls
  /// Of children that have no entry.
  exec_note started[most_started];
  /// Children that loaded the recorder and are not recorded, the last ones.
  std::atomic<std::int32_t> refused[most_started];
  drain_alarm alarm; ///< in a line of its own: each call asks for what stands above
  process_entry processes[most_processes];
  thread_slot slots[most_threads];
};

inline constexpr std::size_t page_bytes =
    65536; ///< of every Linux system, or a multiple of its own
[[nodiscard]] constexpr std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}
inline constexpr std::size_t control_bytes = whole_pages(sizeof(shared_memory));
inline constexpr std::size_t texts_bytes = whole_pages(sizeof(process_texts));
inline constexpr std::size_t ring_bytes = ring_events * sizeof(event);
inline constexpr std::size_t slot_bytes = page_bytes + ring_bytes; ///< places, then the ring
static_assert(site_places * sizeof(std::uint64_t) <= page_bytes);

/// The file: the control, the texts of each process, the slots. Each begins with low numbers, so
/// that a process with a limit of its address space reaches them from the begin of its part.
[[nodiscard]] constexpr std::size_t texts_offset(unsigned process) noexcept {
  return control_bytes + process * texts_bytes;
}
[[nodiscard]] inline std::size_t slot_offset(const shared_memory& memory, unsigned slot) noexcept {
  return texts_offset(memory.process_room) + slot * slot_bytes;
}

} // namespace heapwise::bench
