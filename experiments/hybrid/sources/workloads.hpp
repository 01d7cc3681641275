// What the threads of a hybrid experiment do: tapes of the mixes, one for each thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <heapwise/hybrid/classes.hpp>

#include "harness/cell.hpp"
#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "harness/mapped_array.hpp"
#include "workload/replay.hpp"
#include "workload/tape.hpp"

namespace hybrids {

using namespace heapwise::bench;

/// All of what one cell plays.
class workload {
 public:
  explicit workload(cell& given)
      : threads_{given.size("threads")},
        how_{given.text("workload") == "rl_small_listed" ? heapwise::strategy::segregated
                                                         : heapwise::strategy::automatic},
        grows_{given.text("workload") == "growth"},
        each_{length(given)},
        rounds_{grows_ ? 1 : std::max<std::size_t>(1, given.size("operations") / threads_ / each_)},
        mix_{mix_of(given)},
        memory_{threads_ * each_},
        tapes_{threads_},
        slots_{threads_ * mix_.most_live} {
    for (std::size_t i = 0; i < threads_; ++i) {
      const auto part = memory_.span().subspan(i * each_, each_);
      tapes_[i] = make_tape(part, mix_, given.random().next());
      allocations_ += tapes_[i].allocations;
    }
  }

  [[nodiscard]] int threads() const noexcept { return static_cast<int>(threads_); }
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_; }
  /// Of all threads, in all rounds.
  [[nodiscard]] std::uint64_t operations() const noexcept { return rounds_ * memory_.size(); }
  [[nodiscard]] std::uint64_t allocations() const noexcept { return rounds_ * allocations_; }
  /// All blocks of a thread live at once: the work of a new allocator.
  [[nodiscard]] bool grows() const noexcept { return grows_; }
  [[nodiscard]] heapwise::strategy how() const noexcept { return how_; }

  /// Plays one thread's tape, all rounds. Growth: nobody frees before all have allocated, or
  /// threads that get their turn late would live on what the first ones left.
  template <class Source>
  void play(Source& source, std::size_t thread, start_line& all_grown) const {
    if (grows_) {
      const auto half = tapes_[thread].operations.size() / 2;
      replay(source, tapes_[thread].operations.first(half), slots_of(thread));
      all_grown.arrive_and_wait();
      return replay(source, tapes_[thread].operations.subspan(half), slots_of(thread));
    }
    for (std::size_t round = 0; round < rounds_; ++round) {
      replay(source, tapes_[thread].operations, slots_of(thread));
    }
  }

  /// Plays one thread's tape once and marks each block at both ends.
  /// Returns: how many blocks still bore their marks when they were freed.
  template <class Source>
  std::uint64_t inspect(Source& source, std::size_t thread) const {
    std::uint64_t whole = 0;
    void** const slots = slots_of(thread);
    for (const operation each : tapes_[thread].operations) {
      auto*& block = slots[each.slot()];
      const auto mark = static_cast<unsigned char>(each.slot() * 31 + thread + 1);
      if (each.frees()) {
        const auto* const bytes = static_cast<const unsigned char*>(block);
        whole += bytes[0] == mark && bytes[each.bytes() - 1] == mark ? 1 : 0;
        source.deallocate(block, each.bytes());
      } else {
        block = source.allocate(each.bytes());
        auto* const bytes = static_cast<unsigned char*>(block);
        bytes[0] = bytes[each.bytes() - 1] = mark;
        escape(bytes);
      }
    }
    return whole;
  }

 private:
  static size_mix mix_of(const cell& given) {
    const std::string_view name = given.text("workload");
    if (name == "rl_medium") return rl_medium;
    if (name != "growth") return rl_small;
    const auto most = static_cast<std::uint32_t>(length(given) / 2);
    return {"growth", sizes::rl_small, 1.0, std::max<std::uint32_t>(1, most), 0};
  }
  /// Operations of one thread's tape. Growth has fewer: all its blocks live at once.
  static std::size_t length(const cell& given) {
    if (given.text("workload") != "growth") return given.size("tape") / 2 * 2;
    return std::max<std::size_t>(2, given.size("operations") / 16 / given.size("threads") / 2 * 2);
  }
  [[nodiscard]] void** slots_of(std::size_t thread) const noexcept {
    return slots_.data() + thread * mix_.most_live;
  }

  std::size_t threads_;
  heapwise::strategy how_;
  bool grows_;
  std::size_t each_;
  std::size_t rounds_;
  size_mix mix_;
  mapped_array<operation> memory_;
  mapped_array<tape> tapes_;
  mapped_array<void*> slots_;
  std::uint64_t allocations_ = 0;
};

inline std::vector<parameter> parameters() {
  return {
      {"workload",
       "rl_small, rl_medium: of AllocatorBench; rl_small_listed: its sizes by segregated lists, "
       "none by slabs with a cache; growth: sizes of rl_small, first all allocated, then all "
       "freed",
       {"rl_small", "rl_small_listed", "rl_medium", "growth"},
       {"rl_small", "growth"},
       "",
       1,
       {"rl_small", "rl_small_listed", "rl_medium", "growth"}},
      {"threads", "threads at once", {1, 2, 4, 8, 16}, {1, 2}},
      {"operations",
       "of all threads together; whole tapes; growth: a sixteenth",
       {6'400'000},
       {160'000}},
      {"tape", "operations on the tape of a thread", {100'000}, {10'000}, "", 2}};
}

} // namespace hybrids
