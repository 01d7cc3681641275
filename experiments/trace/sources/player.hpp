// Threads that play a script to the malloc of the process, and to pools.
#pragma once

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include <heapwise/pool.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <heapwise/thread/unsynchronized.hpp>

#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "harness/mapped_array.hpp"
#include "harness/resident.hpp"
#include "kernel/pause.hpp"
#include "sources/script.hpp"

namespace traces {

struct schedule {
  bool exact = false; ///< steps of all threads in the recorded order
  bool paced = false; ///< with the recorded gaps of a millisecond and more
  bool touches = true;
};

using slot = std::atomic<void*>;

/// The pool that a program would have for one of its call sites. It grows as it needs to.
class pool_of_site {
 public:
  explicit pool_of_site(const pooled_site& site) {
    constexpr std::size_t first_blocks = 256;
    const heapwise::pool_options options{.block_size = static_cast<std::size_t>(site.block_size),
                                         .block_count = first_blocks,
                                         .growth = heapwise::growth::geometric};
    if (site.policy == pool_policy::thread_cached) {
      shared_.emplace(options);
    } else {
      own_.emplace(options);
    }
  }

  [[nodiscard]] void* allocate() noexcept {
    return own_ ? own_->try_allocate() : shared_->try_allocate();
  }
  void deallocate(void* block) noexcept {
    own_ ? own_->deallocate(block) : shared_->deallocate(block);
  }

 private:
  std::optional<heapwise::pool<heapwise::unsynchronized>> own_;
  std::optional<heapwise::pool<heapwise::thread_cached>> shared_;
};

/// One thread of the replay.
struct player {
  const script* plays;
  const thread_part* part;
  std::span<player> all;
  schedule how;
  slot* local;
  slot* shared;
  std::span<std::optional<pool_of_site>> pools;
  std::atomic<std::uint64_t>* turn;
  pthread_t thread{};
  bool started = false;
  std::uint64_t calls = 0;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failed = 0;

  void run() noexcept;

 private:
  [[nodiscard]] slot& slot_of(std::uint32_t number, bool is_shared) const noexcept {
    return is_shared ? shared[number] : local[number];
  }
  [[nodiscard]] void* taken(const step& next) const noexcept;
  void keep(slot& where, void* block, const step& next, bool is_shared) noexcept;
  void touch_block(void* block, std::uint64_t size, std::uint32_t pages) const noexcept;
  void* allocate(const step& next);
  void release(const step& next, void* block) noexcept;
  void start(std::uint32_t number) noexcept;
  void wait_for_turn(std::uint64_t wanted) const noexcept;
};

inline void wait_a_little(unsigned turn) noexcept {
  constexpr unsigned spins = 200;
  turn < spins ? heapwise::bench::pause() : static_cast<void>(sched_yield());
}

/// Waits for a block that another thread makes.
inline void* player::taken(const step& next) const noexcept {
  slot& where = slot_of(next.slot, next.shared());
  if (!next.shared()) return where.load(std::memory_order_relaxed);
  // acquire: with the release of keep(), as a program's own hand-over would.
  void* block = where.load(std::memory_order_acquire);
  for (unsigned turns = 0; block == nullptr; ++turns) {
    wait_a_little(turns);
    block = where.load(std::memory_order_acquire);
  }
  return block;
}

inline void player::keep(slot& where, void* block, const step& next, bool is_shared) noexcept {
  ++calls;
  ++blocks;
  bytes += next.size();
  if (block == nullptr) ++failed;
  // release: with taken(). A block of this thread alone needs no order.
  where.store(block, is_shared ? std::memory_order_release : std::memory_order_relaxed);
}

/// Writes to each cache line of a small block, and to as many pages of a large one as were resident
/// when it was freed.
inline void player::touch_block(void* block, std::uint64_t size,
                                std::uint32_t pages) const noexcept {
  if (!how.touches || block == nullptr) return;
  constexpr std::uint64_t line = 64;
  constexpr std::uint64_t page = 4096;
  auto* at = static_cast<volatile unsigned char*>(block);
  const std::uint64_t end = pages == 0 ? size : std::min(size, (pages - 1) * page);
  const std::uint64_t stride = pages == 0 && size < 65536 ? line : page;
  for (std::uint64_t i = 0; i < end; i += stride) at[i] = 1;
}

inline void* player::allocate(const step& next) {
  const auto size = static_cast<std::size_t>(next.size());
  const auto alignment = static_cast<std::size_t>(next.alignment());
  switch (next.kind()) {
    case step_kind::calloc:
      return std::calloc(1, size);
    case step_kind::aligned: {
      void* block = nullptr;
      return posix_memalign(&block, std::max(alignment, sizeof(void*)), size) == 0 ? block
                                                                                   : nullptr;
    }
    case step_kind::scalar_new:
      return alignment > 1 ? ::operator new(size, std::align_val_t{alignment}, std::nothrow)
                           : ::operator new(size, std::nothrow);
    case step_kind::array_new:
      return alignment > 1 ? ::operator new[](size, std::align_val_t{alignment}, std::nothrow)
                           : ::operator new[](size, std::nothrow);
    default:
      return std::malloc(size);
  }
}

inline void player::release(const step& next, void* block) noexcept {
  const std::align_val_t alignment{static_cast<std::size_t>(next.alignment())};
  const bool aligned = next.alignment() > 1;
  if (next.kind() == step_kind::free) {
    std::free(block);
  } else if (next.kind() == step_kind::scalar_delete) {
    aligned ? ::operator delete(block, alignment) : ::operator delete(block);
  } else {
    aligned ? ::operator delete[](block, alignment) : ::operator delete[](block);
  }
}

inline void* run_player(void* argument) {
  static_cast<player*>(argument)->run();
  return nullptr;
}

inline void player::start(std::uint32_t number) noexcept {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::size_t{256} * 1024);
  player& other = all[number];
  other.started = pthread_create(&other.thread, &small, run_player, &other) == 0;
  pthread_attr_destroy(&small);
  if (!other.started) std::abort(); // the other threads would wait for its blocks for ever
}

inline void player::wait_for_turn(std::uint64_t wanted) const noexcept {
  // acquire: with the release of the thread that passed the turn on.
  for (unsigned turns = 0; turn->load(std::memory_order_acquire) != wanted; ++turns) {
    wait_a_little(turns);
  }
}

inline void sleep_for(std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec pause{static_cast<time_t>(nanoseconds / second),
                       static_cast<long>(nanoseconds % second)};
  nanosleep(&pause, nullptr);
}

inline void player::run() noexcept {
  for (const step& next : plays->steps(*part)) {
    switch (next.kind()) {
      case step_kind::malloc:
      case step_kind::calloc:
      case step_kind::aligned:
      case step_kind::scalar_new:
      case step_kind::array_new: {
        void* block = allocate(next);
        touch_block(block, next.size(), next.target);
        keep(slot_of(next.slot, next.shared()), block, next, next.shared());
        break;
      }
      case step_kind::free:
      case step_kind::scalar_delete:
      case step_kind::array_delete:
        ++calls;
        release(next, taken(next));
        break;
      case step_kind::pooled_allocate: {
        void* block = pools[next.site()]->allocate();
        touch_block(block, next.size(), next.target);
        keep(slot_of(next.slot, next.shared()), block, next, next.shared());
        break;
      }
      case step_kind::pooled_deallocate:
        ++calls;
        pools[next.site()]->deallocate(taken(next));
        break;
      case step_kind::resize: {
        void* block = std::realloc(taken(next), static_cast<std::size_t>(next.size()));
        keep(slot_of(next.target, next.target_shared()), block, next, next.target_shared());
        break;
      }
      case step_kind::usable_size:
        escape(reinterpret_cast<void*>(malloc_usable_size(taken(next))));
        break;
      case step_kind::start:
        start(next.slot);
        break;
      case step_kind::turn:
        if (how.exact) wait_for_turn(next.size());
        break;
      case step_kind::pass:
        // release: with the acquire of the thread whose turn it is.
        if (how.exact) turn->store(next.size(), std::memory_order_release);
        break;
      case step_kind::sleep:
        if (how.paced) sleep_for(next.size());
        break;
    }
  }
}

/// Plays a script in each repeat, with the schedule and the touch of the cell, and checks the work.
inline void measure_script(cell& given, const script& plays) {
  const script_header& wanted = plays.header();
  const std::string_view name = given.text("schedule");
  const schedule how{name != "fast", name == "paced", given.text("touch") == "line"};
  std::uint64_t local_slots = 0;
  for (const thread_part& part : plays.threads()) local_slots += part.slots;
  given.each_repeat([&](sample& one) {
    const mapped_array<slot> local{local_slots};
    const mapped_array<slot> shared{wanted.shared_slots};
    std::array<std::optional<pool_of_site>, most_pooled_sites> pools;
    const mapped_array<player> players{wanted.threads};
    std::atomic<std::uint64_t> turn{0};
    std::uint64_t next_slot = 0;
    for (std::size_t i = 0; i < players.size(); ++i) {
      const thread_part& part = plays.threads()[i];
      players[i] = player{.plays = &plays,
                          .part = &part,
                          .all = players.span(),
                          .how = how,
                          .local = local.data() + next_slot,
                          .shared = shared.data(),
                          .pools = pools,
                          .turn = &turn};
      next_slot += part.slots;
    }
    resident_meter resident;
    one.time("time", wanted.calls, [&] {
      for (std::size_t i = 0; i < plays.pooled().size(); ++i) pools[i].emplace(plays.pooled()[i]);
      players[0].run();
      for (player& each : players) {
        if (each.started) pthread_join(each.thread, nullptr);
      }
    });
    one.set_processor_time(wanted.calls);
    one.set("peak_memory", static_cast<double>(resident.peak()));
    given.expect_calls(wanted.blocks);
    std::uint64_t calls = 0;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t failed = 0;
    for (const player& each : players) {
      calls += each.calls;
      blocks += each.blocks;
      bytes += each.bytes;
      failed += each.failed;
    }
    given.check(
        "work",
        calls == wanted.calls && blocks == wanted.blocks && bytes == wanted.bytes && failed == 0,
        "%llu of %llu calls, %llu of %llu blocks, %llu of %llu bytes, %llu failed",
        static_cast<unsigned long long>(calls), static_cast<unsigned long long>(wanted.calls),
        static_cast<unsigned long long>(blocks), static_cast<unsigned long long>(wanted.blocks),
        static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(wanted.bytes),
        static_cast<unsigned long long>(failed));
  });
}

} // namespace traces
