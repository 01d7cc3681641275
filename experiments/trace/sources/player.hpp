// Threads that play a script to the malloc of the process, to pools and to arenas.
#pragma once

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>

#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "kernel/pause.hpp"
#include "sources/pool_of_site.hpp"
#include "sources/recorded_order.hpp"
#include "sources/script.hpp"

namespace traces {

struct schedule {
  bool exact = false; ///< steps of all threads in the recorded order
  bool paced = false; ///< with the recorded gaps of a millisecond and more
  bool touches = true;
};

using slot = std::atomic<void*>;

/// Bytes of the blocks that live, as the program asked for them.
class live_bytes {
 public:
  void add(std::uint64_t size) noexcept {
    now_ += size;
    peak_ = std::max(peak_, now_);
  }
  void remove(std::uint64_t size) noexcept { now_ -= size; }
  [[nodiscard]] std::uint64_t peak() const noexcept { return peak_; }

 private:
  std::uint64_t now_ = 0;
  std::uint64_t peak_ = 0;
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
  recorded_order* order;
  live_bytes* live; ///< of all players, if their steps have an order; else of this one
  live_bytes own{};
  pthread_t thread{};
  bool started = false;
  std::uint64_t calls = 0;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failed = 0;
  step grown{}; ///< what the next resize adds

  void run() noexcept;
  void prepare() noexcept;

 private:
  void play(const step& next) noexcept;
  [[nodiscard]] slot& slot_of(std::uint32_t number, bool is_shared) const noexcept {
    return is_shared ? shared[number] : local[number];
  }
  [[nodiscard]] void* taken(const step& next) const noexcept;
  void leave(const step& next) noexcept;
  void wait_for_end(std::uint32_t number) const noexcept;
  void keep(slot& where, void* block, const step& next, bool is_shared) noexcept;
  void touch_block(void* block, std::uint64_t size, std::uint32_t pages) const noexcept;
  void touch_grown(void* block) noexcept;
  void touch_last(const void* block, const step& next) const noexcept;
  void* allocate(const step& next);
  void release(const step& next, void* block) noexcept;
  void start(std::uint32_t number) noexcept;
  [[nodiscard]] std::uint32_t number() const noexcept {
    return static_cast<std::uint32_t>(this - all.data());
  }
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

/// The block that was handed over has ended.
inline void player::leave(const step& next) noexcept {
  // release: with the acquire of wait_for_end(), as if the place of a queue were free again.
  if (next.shared()) shared[next.slot].store(nullptr, std::memory_order_release);
}

inline void player::wait_for_end(std::uint32_t number) const noexcept {
  // acquire: with the release of leave().
  for (unsigned turns = 0; shared[number].load(std::memory_order_acquire) != nullptr; ++turns) {
    wait_a_little(turns);
  }
}

inline void player::keep(slot& where, void* block, const step& next, bool is_shared) noexcept {
  ++calls;
  ++blocks;
  bytes += next.size();
  live->add(next.size());
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

/// What a resize added is written to as the block was.
inline void player::touch_grown(void* block) noexcept {
  if (how.touches && block != nullptr) {
    constexpr std::uint64_t line = 64;
    constexpr std::uint64_t large = 65536 / line;
    auto* at = static_cast<volatile unsigned char*>(block) + grown.size();
    const std::uint64_t stride = grown.target < large ? 1 : 4096 / line;
    for (std::uint64_t i = 0; i < grown.target; i += stride) at[i * line] = 1;
  }
  grown = {};
}

/// A program has a look at most blocks before it frees them: a destructor does.
inline void player::touch_last(const void* block, const step& next) const noexcept {
  if (how.touches && block != nullptr && next.size() != 0) {
    static_cast<void>(*static_cast<const volatile unsigned char*>(block));
  }
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

inline void sleep_for(std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec pause{static_cast<time_t>(nanoseconds / second),
                       static_cast<long>(nanoseconds % second)};
  nanosleep(&pause, nullptr);
}

inline void player::play(const step& next) noexcept {
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
    case step_kind::array_delete: {
      ++calls;
      void* block = taken(next);
      live->remove(next.size());
      touch_last(block, next);
      release(next, block);
      leave(next);
      break;
    }
    case step_kind::pooled_allocate: {
      void* block = pools[next.site()]->allocate(next.size());
      touch_block(block, next.size(), next.target);
      keep(slot_of(next.slot, next.shared()), block, next, next.shared());
      break;
    }
    case step_kind::pooled_deallocate: {
      ++calls;
      live->remove(next.size());
      pool_of_site& pool = *pools[next.site()];
      void* block = pool.ends_blocks() ? taken(next) : nullptr;
      touch_last(block, next);
      pool.deallocate(block, next.size());
      leave(next);
      break;
    }
    case step_kind::grow:
      grown = next;
      break;
    case step_kind::resize: {
      void* block = std::realloc(taken(next), static_cast<std::size_t>(next.size()));
      leave(next);
      live->remove(grown.size());
      touch_grown(block);
      keep(slot_of(next.target, next.target_shared()), block, next, next.target_shared());
      break;
    }
    case step_kind::usable_size:
      escape(reinterpret_cast<void*>(malloc_usable_size(taken(next))));
      break;
    case step_kind::wait_for_end:
      wait_for_end(next.slot);
      break;
    case step_kind::start:
      start(next.slot);
      break;
    case step_kind::turn:
      if (how.exact) order->wait_for(next.size(), number());
      break;
    case step_kind::pass:
      if (how.exact) order->pass(next.size(), next.slot);
      break;
    case step_kind::sleep:
      if (how.paced) sleep_for(next.size());
      break;
  }
}

inline void player::run() noexcept {
  for (const step& next : plays->steps(*part)) play(next);
}

/// Makes the blocks that live where the window begins. They are not among the counted calls.
inline void player::prepare() noexcept {
  for (const step& next : plays->prepared()) play(next);
  calls = blocks = bytes = 0;
}

} // namespace traces
