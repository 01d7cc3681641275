// The recorded order of the steps of all threads: they take turns.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "kernel/pause.hpp"
#include "kernel/wake_word.hpp"

namespace traces {

using heapwise::bench::wake_word;

/// A turn ends where the next step is another thread's. That thread looks for a few microseconds,
/// in which another processor makes some steps, and then sleeps. It leaves its processor to the
/// thread whose turn it is, and only that one is woken.
class recorded_order {
 public:
  /// A word for each thread. They are zero, and live as long as this.
  explicit recorded_order(std::span<wake_word> sleepers) noexcept
      : sleepers_{sleepers}, looks_{has_two_processors() ? most_looks : 0} {}

  /// Returns when this many steps of all threads are done.
  void wait_for(std::uint64_t steps, std::uint32_t thread) noexcept {
    // acquire: with the store of pass().
    for (unsigned turns = 0; done_.load(std::memory_order_acquire) != steps; ++turns) {
      if (turns < looks_) {
        heapwise::bench::pause();
      } else {
        sleepers_[thread].sleep_unless(
            [&] { return done_.load(std::memory_order_seq_cst) == steps; });
      }
    }
  }

  /// This many steps are done, and the next one is the next thread's.
  void pass(std::uint64_t steps, std::uint32_t next) noexcept {
    // seq_cst: before the look at the sleeper, see wake_word. It releases the steps, too.
    done_.store(steps, std::memory_order_seq_cst);
    sleepers_[next].wake();
  }

 private:
  /// About as long as it takes to sleep and to be woken.
  static constexpr unsigned most_looks = 64;

  [[nodiscard]] static bool has_two_processors() noexcept {
    cpu_set_t usable;
    return sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) > 1;
  }

  std::span<wake_word> sleepers_;
  unsigned looks_;
  alignas(64) std::atomic<std::uint64_t> done_{0};
};

} // namespace traces
