// What the threads of a hybrid experiment do: tapes of the mixes, one for each thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <heapwise/hybrid/classes.hpp>

#include "harness/cell.hpp"
#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "workload/replay.hpp"
#include "workload/tape.hpp"
#include "workload/timed_calls.hpp"

namespace hybrids {

using namespace heapwise::bench;

/// One size for each of the segregated lists: threads that use different ones never share a list.
inline constexpr std::array<weighted_size, 8> list_sizes{
    {{32, 1}, {64, 1}, {128, 1}, {256, 1}, {512, 1}, {1024, 1}, {2048, 1}, {4096, 1}}};

/// What an untimed pass saw of all blocks.
struct inspection {
  std::uint64_t whole_blocks = 0; ///< that were aligned, and bore their marks when they were freed
  std::uint64_t usable_bytes = 0;
};

/// All of what one cell plays.
class workload {
 public:
  explicit workload(cell& the_cell)
      : threads_{the_cell.size("threads")},
        how_{is_listed(the_cell.text("workload")) ? heapwise::strategy::segregated
                                                  : heapwise::strategy::automatic},
        grows_{the_cell.text("workload") == "growth"},
        each_{length(the_cell)},
        rounds_{grows_ ? 1
                       : std::max<std::size_t>(1, the_cell.size("operations") / threads_ / each_)},
        mix_{mix_of(the_cell)},
        memory_{threads_ * each_},
        tapes_{threads_},
        slots_{threads_ * mix_.most_live} {
    for (std::size_t i = 0; i < threads_; ++i) {
      const auto part = memory_.span().subspan(i * each_, each_);
      tapes_[i] = make_tape(part, mix_of_thread(the_cell, i), the_cell.random().next());
      allocations_ += tapes_[i].allocations;
      requested_bytes_ += tapes_[i].requested_bytes;
      peak_live_bytes_ += tapes_[i].peak_live_bytes;
    }
  }

  [[nodiscard]] int threads() const noexcept { return static_cast<int>(threads_); }
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_; }
  /// Of all threads, in all rounds.
  [[nodiscard]] std::uint64_t operations() const noexcept { return rounds_ * memory_.size(); }
  [[nodiscard]] std::uint64_t allocations() const noexcept { return rounds_ * allocations_; }
  /// Of all threads, in one round.
  [[nodiscard]] std::uint64_t operations_of_round() const noexcept { return memory_.size(); }
  [[nodiscard]] std::uint64_t requested_bytes() const noexcept { return requested_bytes_; }
  [[nodiscard]] std::uint64_t peak_live_bytes() const noexcept { return peak_live_bytes_; }
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

  /// Plays one thread's tape once, each call timed.
  template <class Source>
  void play_timed(Source& source, std::size_t thread, call_durations& into) const {
    replay_timed(source, tapes_[thread], slots_of(thread), into);
  }

  /// Plays one thread's tape once and marks each block at both ends.
  template <class Source>
  [[nodiscard]] inspection inspect(Source& source, std::size_t thread) const {
    inspection seen;
    void** const slots = slots_of(thread);
    for (const operation each : tapes_[thread].operations) {
      auto*& block = slots[each.slot()];
      const auto mark = static_cast<unsigned char>(each.slot() * 31 + thread + 1);
      if (each.frees()) {
        const auto* const bytes = static_cast<const unsigned char*>(block);
        seen.whole_blocks += bytes[0] == mark && bytes[each.bytes() - 1] == mark ? 1 : 0;
        source.deallocate(block, each.bytes());
      } else {
        block = source.allocate(each.bytes());
        if (!is_aligned(block)) continue;
        auto* const bytes = static_cast<unsigned char*>(block);
        bytes[0] = bytes[each.bytes() - 1] = mark;
        seen.usable_bytes += source.usable(block);
        escape(bytes);
      }
    }
    return seen;
  }

 private:
  static bool is_listed(std::string_view name) {
    return name == "rl_small_listed" || name == "disjoint";
  }
  static size_mix mix_of(const cell& the_cell) {
    const std::string_view name = the_cell.text("workload");
    for (const size_mix& each : {rl_medium, fragmentation_mix, alignment64}) {
      if (name == each.name) return each;
    }
    if (name == "disjoint") return {"disjoint", list_sizes, .65, 1024, 0};
    if (name != "growth") return rl_small;
    const auto most = static_cast<std::uint32_t>(length(the_cell) / 2);
    return {"growth", sizes::rl_small, 1.0, std::max<std::uint32_t>(1, most), 0};
  }
  /// Threads of disjoint take one size each, those beyond the eighth one that another has, too.
  [[nodiscard]] size_mix mix_of_thread(const cell& the_cell, std::size_t thread) const {
    size_mix mine = mix_;
    if (the_cell.text("workload") == "disjoint") {
      mine.sizes = std::span{list_sizes}.subspan(thread % list_sizes.size(), 1);
    }
    return mine;
  }
  [[nodiscard]] bool is_aligned(const void* block) const noexcept {
    return mix_.alignment == 0 || reinterpret_cast<std::uintptr_t>(block) % mix_.alignment == 0;
  }
  /// Operations of one thread's tape. Growth has fewer: all its blocks live at once.
  static std::size_t length(const cell& the_cell) {
    if (the_cell.text("workload") != "growth") return the_cell.size("tape") / 2 * 2;
    return std::max<std::size_t>(
        2, the_cell.size("operations") / 16 / the_cell.size("threads") / 2 * 2);
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
  std::uint64_t requested_bytes_ = 0;
  std::uint64_t peak_live_bytes_ = 0;
};

inline std::vector<parameter> parameters() {
  const std::vector<value> all{"rl_small",    "rl_small_listed", "rl_medium", "fragmentation_mix",
                               "alignment64", "disjoint",        "growth"};
  return {
      {"workload",
       "rl_small, rl_medium, fragmentation_mix, alignment64: of AllocatorBench; rl_small_listed: "
       "sizes of rl_small by segregated lists, none by slabs with a cache; disjoint: each thread "
       "has one size, and so a list, of its own; growth: sizes of rl_small, first all allocated, "
       "then all freed",
       all,
       {"rl_small", "growth"},
       "",
       1,
       {"rl_small", "rl_small_listed", "rl_medium", "fragmentation_mix", "alignment64", "disjoint",
        "growth"}},
      {"threads", "threads at once", {1, 2, 4, 8, 16}, {1, 2}},
      {"operations",
       "of all threads together; whole tapes; growth: a sixteenth",
       {3'200'000},
       {160'000}},
      {"tape", "operations on the tape of a thread", {100'000}, {10'000}, "", 2}};
}

} // namespace hybrids
