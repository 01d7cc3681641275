// An ordinary program of many threads: each allocates and frees blocks of its own, and some of them
// are freed by another thread than the one that allocated them.
#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harness/escape.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/random.hpp"
#include "sources/request_sizes.hpp"

namespace heaps {

namespace sizes {

/// small_and_medium, and one buffer of 64 KiB in 500 requests.
inline constexpr std::array<heapwise::bench::weighted_size, 10> with_buffers{{{16, .125},
                                                                              {32, .125},
                                                                              {64, .1},
                                                                              {128, .175},
                                                                              {256, .175},
                                                                              {512, .15},
                                                                              {1024, .075},
                                                                              {2048, .05},
                                                                              {4096, .023},
                                                                              {65536, .002}}};

} // namespace sizes

inline constexpr heapwise::bench::size_mix with_buffers{"with_buffers", sizes::with_buffers, .625,
                                                        6144, 0};

/// Blocks by address alone: what each must hold until it is freed stands in the block itself.
class block_mark {
 public:
  static void* write(void* block, std::uint32_t bytes) noexcept {
    auto* const words = static_cast<std::uint32_t*>(block);
    words[0] = bytes;
    words[1] = ~bytes;
    static_cast<volatile unsigned char*>(block)[bytes - 1] = 1;
    return block;
  }

  /// The bytes that were asked for; 0 if the block is not as it was written.
  [[nodiscard]] static std::uint32_t read(const void* block) noexcept {
    const auto* const words = static_cast<const std::uint32_t*>(block);
    return words[0] == ~words[1] ? words[0] : 0;
  }
};

/// What the threads share: the sizes, the order of slots, and the board on which blocks change
/// hands.
class exchange {
 public:
  static constexpr std::size_t slots_each = 1024; ///< blocks that a thread keeps for itself

  /// Throws std::bad_alloc.
  exchange(std::size_t threads, heapwise::bench::random_numbers& random)
      : sizes_{with_buffers, random},
        choices_{choices},
        board_{board_each * threads},
        own_{slots_each * threads} {
    for (std::uint32_t& each : choices_) each = static_cast<std::uint32_t>(random.next());
  }

  /// Bytes that are live, about, when every slot of all threads and of the board has a block.
  [[nodiscard]] double live_bytes() const noexcept {
    return static_cast<double>(board_.size() + own_.size()) * sizes_.mean_bytes();
  }
  /// Calls of malloc before the clock starts.
  [[nodiscard]] std::size_t other_calls(std::size_t /*operations*/) const noexcept {
    return board_.size() + own_.size();
  }

  /// What one thread did; allocated and freed bytes of all threads together must be equal.
  struct account {
    std::uint64_t allocated_bytes = 0;
    std::uint64_t freed_bytes = 0;
    std::uint64_t spoiled = 0; ///< blocks that were not as they were written
  };

  /// Fills the thread's own slots, and its share of the board.
  template <class Source>
  void fill(Source& source, std::size_t thread, account& keeps) {
    for (std::size_t i = 0; i < slots_each; ++i) {
      own_[thread * slots_each + i] = take(source, thread + i, keeps);
    }
    for (std::size_t i = 0; i < board_each; ++i) {
      // Relaxed: all threads meet at the start line before anybody looks at the board.
      board_[thread * board_each + i].store(take(source, thread + slots_each + i, keeps),
                                            std::memory_order_relaxed);
    }
  }

  /// `operations` times: a new block takes the place of an older one, which is freed. One of eight
  /// goes to the board. After each burst the thread lets others run: else each of many threads
  /// would do all its work at once on its turn, and none would meet another.
  template <class Source>
  void work(Source& source, std::size_t thread, std::size_t operations, account& keeps) {
    constexpr std::size_t stride = 7919; // threads begin at different places of the same tables
    std::size_t number = thread * stride;
    for (std::size_t i = 0; i < operations; ++i, ++number) {
      const std::uint32_t choice = choices_[number % choices];
      void* const taken = take(source, number, keeps);
      if (choice % 8 == 0) {
        std::atomic<void*>& place = board_[(choice >> 3) % board_.size()];
        // acq_rel: the thread that takes the block off the board sees what was written into it.
        give_back(source, place.exchange(taken, std::memory_order_acq_rel), keeps);
      } else {
        void*& place = own_[thread * slots_each + (choice >> 3) % slots_each];
        give_back(source, place, keeps);
        place = taken;
      }
      if (i % burst == burst - 1) sched_yield();
    }
  }

  /// Frees the thread's own blocks.
  template <class Source>
  void empty(Source& source, std::size_t thread, account& keeps) {
    for (std::size_t i = 0; i < slots_each; ++i) {
      give_back(source, own_[thread * slots_each + i], keeps);
    }
  }

  /// Frees what is left on the board; for one thread, when the others have ended.
  template <class Source>
  void clear_board(Source& source, account& keeps) {
    for (std::atomic<void*>& each : board_) {
      // Relaxed: the threads that wrote to the board were joined.
      give_back(source, each.exchange(nullptr, std::memory_order_relaxed), keeps);
    }
  }

 private:
  static constexpr std::size_t burst = 500;
  static constexpr std::size_t choices = 1 << 16;
  static constexpr std::size_t board_each = 32;

  template <class Source>
  void* take(Source& source, std::size_t number, account& keeps) {
    const auto bytes = static_cast<std::uint32_t>(sizes_.of(number));
    void* const block = block_mark::write(source.allocate(bytes), bytes);
    heapwise::bench::escape(block);
    keeps.allocated_bytes += bytes;
    return block;
  }

  template <class Source>
  static void give_back(Source& source, void* block, account& keeps) {
    const std::uint32_t bytes = block_mark::read(block);
    keeps.freed_bytes += bytes;
    keeps.spoiled += bytes == 0 ? 1 : 0;
    source.deallocate(block, bytes);
    heapwise::bench::clobber();
  }

  request_sizes sizes_;
  heapwise::bench::mapped_array<std::uint32_t> choices_;
  heapwise::bench::mapped_array<std::atomic<void*>> board_;
  heapwise::bench::mapped_array<void*> own_;
};

} // namespace heaps
