// A script: what the threads of a replay do, ready to be played from a file mapping.
//
// The file is a header, a pooled_site for each pool or arena that call sites have, a thread_part
// for each thread, and the steps: first those that make the blocks that live where a window begins,
// then those of one thread after the other.
#pragma once

#include <cstdint>

namespace heapwise::bench {

inline constexpr std::uint64_t script_magic = 0x3630'5450'5243'5348; // "HSCRPT06"

enum class step_kind : std::uint8_t {
  malloc = 0,
  calloc = 1,
  aligned = 2,
  scalar_new = 3,
  array_new = 4,
  free = 5,
  scalar_delete = 6,
  array_delete = 7,
  resize = 8,
  usable_size = 9,
  start = 10,             ///< the thread whose number is `slot` begins
  turn = 11,              ///< only in exact order: wait until `size` steps of all threads are done
  pass = 12,              ///< only in exact order: `size` steps are done, and thread `slot` is next
  sleep = 13,             ///< only when paced: `size` nanoseconds
  pooled_allocate = 14,   ///< from the pool of a site, see step::site
  pooled_deallocate = 15, ///< to the pool of a site
  grow = 16,              ///< before each resize: it adds `target` lines from byte `size` on
  wait_for_end = 17,      ///< until the block of the shared slot, which this thread made, has ended
};

/// 16 bytes. A slot keeps the address of a block while it lives. A shared slot is for one block
/// that another thread ends: the store that makes it known releases, the load that takes it
/// acquires. The end of the block clears the slot.
struct step {
  std::uint64_t
      words; ///< kind (4 bits), slot is shared (1), target is shared (1), alignment (6), size (50)
  std::uint32_t slot;
  std::uint32_t
      target; ///< of a resize: where the block is kept then. Of others: pages to touch, plus 1

  [[nodiscard]] step_kind kind() const noexcept { return static_cast<step_kind>(words & 31); }
  [[nodiscard]] bool shared() const noexcept { return (words >> 5 & 1) != 0; }
  [[nodiscard]] bool target_shared() const noexcept { return (words >> 6 & 1) != 0; }
  [[nodiscard]] std::uint64_t alignment() const noexcept {
    return std::uint64_t{1} << (words >> 7 & 63);
  }
  /// Of a pooled step: the number of its pooled_site, where others have the alignment.
  [[nodiscard]] unsigned site() const noexcept { return words >> 7 & 63; }
  [[nodiscard]] std::uint64_t size() const noexcept { return words >> 13; }

  [[nodiscard]] static constexpr std::uint64_t pack(step_kind kind, bool shared, bool target_shared,
                                                    unsigned alignment_log,
                                                    std::uint64_t size) noexcept {
    return static_cast<std::uint64_t>(kind) | std::uint64_t{shared} << 5 |
           std::uint64_t{target_shared} << 6 | std::uint64_t{alignment_log} << 7 | size << 13;
  }
};
static_assert(sizeof(step) == 16);

enum class pool_policy : std::uint64_t {
  unsynchronized = 0,
  thread_cached = 1,
  sized = 2, ///< an unsynchronized pool for each size class, see sized_pools
  arena = 3, ///< reset whenever none of its blocks lives
};

inline constexpr std::uint64_t size_step = 16;         ///< between the classes of sized pools
inline constexpr std::uint64_t most_sized_bytes = 512; ///< of a block of sized pools

inline constexpr unsigned most_pooled_sites = 64;

/// A pool or an arena that one or several call sites have.
struct pooled_site {
  std::uint64_t block_size; ///< of an arena and of sized pools: the largest
  pool_policy policy;
};

struct thread_part {
  std::uint64_t first; ///< of its steps, counted from the first of all
  std::uint64_t count;
  std::uint64_t slots; ///< local ones
};

/// Totals are what the replay must find again: V24.
struct script_header {
  std::uint64_t magic;
  std::uint64_t threads;
  std::uint64_t steps; ///< of all threads, with those that only some schedules take
  std::uint64_t shared_slots;
  std::uint64_t calls; ///< of the allocator; also for blocks that ended with an exec or in a pause
  std::uint64_t blocks;
  std::uint64_t bytes;
  std::uint64_t peak_live_bytes;
  std::uint64_t left_blocks; ///< not freed at the end
  std::uint64_t pooled_sites;
  std::uint64_t prepared; ///< steps that make the live blocks of a window; not among the calls
};

} // namespace heapwise::bench
