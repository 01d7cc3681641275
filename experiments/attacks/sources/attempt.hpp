// An attack on malloc, tried in processes of its own, and what became of it.
#pragma once

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "harness/experiment.hpp"
#include "harness/processes/own_process.hpp"
#include "harness/processes/two_sides.hpp"

namespace attacks {

using namespace heapwise::bench;

/// What the attacking process says of itself while it lives, in memory that the parent shares.
struct progress {
  std::atomic<bool> ready{false};            ///< all is set up; the deed comes next
  std::atomic<bool> done{false};             ///< the deed is over, and the process still lives
  std::atomic<bool> effect{false};           ///< what the attacker wants was seen
  std::atomic<std::uint64_t> calls{0};       ///< of malloc and free since the deed
  std::atomic<std::uint64_t> allocations{0}; ///< calls of malloc, of all
};

/// The compiler must not know which address or number this is.
template <class Type>
[[gnu::always_inline]] inline Type hidden(Type value) noexcept {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

/// Memory that is not a block: an attacker wants malloc to hand it out.
struct prey {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;

  [[nodiscard]] bool holds(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin) <
           bytes;
  }
};

/// One try. `is_real` is false for the legal twin, which does the same without the fault.
class attempt {
 public:
  attempt(progress& said, std::size_t size, bool is_real, random_numbers& random) noexcept
      : said_{&said}, size_{size}, is_real_{is_real}, random_{&random} {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] random_numbers& random() noexcept { return *random_; }

  [[nodiscard]] std::byte* take() noexcept { return take(size_); }
  [[nodiscard]] std::byte* take(std::size_t bytes) noexcept {
    said_->allocations.fetch_add(1, std::memory_order_relaxed);
    count();
    return static_cast<std::byte*>(hidden(std::malloc(hidden(bytes))));
  }
  void give(void* block) noexcept {
    count();
    std::free(hidden(block));
  }

  /// The fault itself; the legal twin does `instead`.
  template <class Deed, class Instead>
  void deed(Deed&& fault, Instead&& instead) {
    said_->ready = true;
    if (is_real_) {
      fault();
    } else {
      instead();
    }
    said_->done = true;
  }
  template <class Deed>
  void deed(Deed&& fault) {
    deed(fault, [] {});
  }

  /// What the attacker wants has come true. What happens later does not undo it.
  void saw_effect_if(bool seen) noexcept {
    if (seen) said_->effect = true;
  }

 private:
  void count() noexcept {
    if (said_->done) said_->calls.fetch_add(1, std::memory_order_relaxed);
  }

  progress* said_;
  std::size_t size_;
  bool is_real_;
  random_numbers* random_;
};

/// Live blocks, each with a word of its own in its first and last bytes: two that overlap, or that
/// somebody else wrote to, no longer have theirs. Its own memory is not malloc's.
class live_blocks {
 public:
  static constexpr std::size_t most = 2048;

  /// Returns: the block, or nullptr if malloc says no.
  std::byte* add(std::byte* block, std::size_t bytes) noexcept {
    if (block == nullptr || count_ == most) return nullptr;
    held& each = blocks_[count_];
    each = {block, bytes, 0x9e3779b97f4a7c15ULL * (count_ + 1)};
    ++count_;
    write(each);
    return block;
  }
  void take(attempt& from, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) add(from.take(), from.size());
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::byte* operator[](std::size_t number) const noexcept {
    return blocks_[number].begin;
  }
  /// Puts them in the order of their addresses.
  void sort() noexcept {
    std::sort(blocks_.begin(), blocks_.begin() + count_,
              [](const held& one, const held& other) { return one.begin < other.begin; });
  }
  [[nodiscard]] bool intact() const noexcept {
    return std::all_of(blocks_.begin(), blocks_.begin() + count_, is_intact);
  }
  [[nodiscard]] bool any_in(prey memory) const noexcept {
    return std::any_of(blocks_.begin(), blocks_.begin() + count_,
                       [&](const held& each) { return memory.holds(each.begin); });
  }
  /// Forgets a block without freeing it.
  /// Returns: whether one of the last few begins there.
  [[nodiscard]] bool was_among_last(const std::byte* block) const noexcept {
    constexpr std::size_t few = 8;
    const std::size_t from = count_ < few ? 0 : count_ - few;
    return std::any_of(blocks_.begin() + from, blocks_.begin() + count_,
                       [&](const held& each) { return each.begin == block; });
  }
  void remove(std::size_t number) noexcept { blocks_[number] = blocks_[--count_]; }
  void free_all(attempt& through) noexcept {
    while (count_ > 0) through.give(blocks_[--count_].begin);
  }

 private:
  struct held {
    std::byte* begin;
    std::size_t bytes;
    std::uint64_t word;
  };

  static void write(const held& each) noexcept {
    std::memcpy(each.begin, &each.word, sizeof each.word);
    std::memcpy(each.begin + each.bytes - sizeof each.word, &each.word, sizeof each.word);
    escape(each.begin);
  }
  static bool is_intact(const held& each) noexcept {
    return std::memcmp(each.begin, &each.word, sizeof each.word) == 0 &&
           std::memcmp(each.begin + each.bytes - sizeof each.word, &each.word, sizeof each.word) ==
               0;
  }

  std::array<held, most> blocks_;
  std::size_t count_ = 0;
};

/// What a program does after the deed: it asks for many blocks of the size, uses them and frees
/// them. The effect is a block that overlaps another one, or lies in the prey.
inline void go_on(attempt& the_attempt, live_blocks& blocks, prey wanted = {}) noexcept {
  constexpr std::size_t few = 64;
  constexpr std::size_t large_bytes = 64 * 1024;
  const std::size_t count = the_attempt.size() < large_bytes ? live_blocks::most / 2 : few;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* const block = the_attempt.take();
      // Before it is written to: a link in it may lead to the end of the process.
      the_attempt.saw_effect_if(blocks.was_among_last(block) || wanted.holds(block));
      blocks.add(block, the_attempt.size());
    }
    the_attempt.saw_effect_if(!blocks.intact() || blocks.any_in(wanted));
    blocks.free_all(the_attempt);
  }
}

struct entry {
  const char* name;
  void (*run)(attempt&, live_blocks&);
  std::size_t least_bytes = 0; ///< of a block; smaller ones do not fit the attack
};

/// How many attempts ended in each way.
struct outcomes {
  std::uint64_t at_once = 0;
  std::uint64_t later = 0;
  std::uint64_t later_calls = 0; ///< of all these, between the deed and the stop
  std::uint64_t harmless = 0;
  std::uint64_t effective = 0;
  std::uint64_t alarms = 0; ///< legal twins that were stopped
  std::uint64_t hung = 0;
  std::uint64_t failures = 0; ///< attempts that did not come to the deed, twins with an effect
};

inline const std::vector<quantity> quantities{
    {"corrupted", "per attempt", better::lower, "the attack's effect was seen; nothing stopped it"},
    {"stopped_at_once", "per attempt", better::higher, "a signal ended the process in the deed"},
    {"stopped_later", "per attempt", better::higher,
     "a signal ended it later, before an effect was seen"},
    {"calls_until_stop", "per stop", better::lower,
     "of malloc and free between the deed and a later stop; 0 if none came later"},
    {"hung", "per attempt", better::lower, "the process did not end"},
    {"false_alarms", "per attempt", better::lower, "the same without the fault was stopped"},
};

class trial {
 public:
  trial(cell& the_cell, const entry& attack)
      : cell_{&the_cell}, attack_{&attack}, size_{the_cell.size("size")} {}

  void run(std::uint64_t attempts, outcomes& counts) {
    for (std::uint64_t i = 0; i < attempts; ++i) {
      count(once(true), counts);
      const ending twin = once(false);
      counts.alarms += twin.signal != 0 ? 1 : 0;
      counts.failures += !said_->ready || said_->effect ? 1 : 0;
    }
  }

 private:
  static constexpr unsigned most_seconds = 2; ///< of processor time; an attempt takes milliseconds

  /// Tries it in a copy of this process, from a state of the heap that is another each time.
  ending once(bool is_real) {
    new (&*said_) progress;
    const std::uint64_t before = cell_->random().below(64);
    const ending how = run_in_own_process(most_seconds, [&] {
      const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
      dup2(nowhere, STDERR_FILENO);
      attempt the_attempt{*said_, size_, is_real, cell_->random()};
      static live_blocks blocks;
      for (std::uint64_t i = 0; i < before; ++i) escape(the_attempt.take());
      attack_->run(the_attempt, blocks);
    });
    // The counting probe writes down what a process asked for when that ends by itself.
    if (how.well()) cell_->expect_calls(said_->allocations);
    return how;
  }

  void count(const ending& how, outcomes& counts) const {
    const bool hung = how.signal == SIGALRM || how.signal == SIGXCPU;
    if (!said_->ready || how.exit_code != 0) {
      ++counts.failures;
    } else if (said_->effect) {
      ++counts.effective;
    } else if (hung) {
      ++counts.hung;
    } else if (how.signal == 0) {
      ++counts.harmless;
    } else if (said_->done) {
      ++counts.later;
      counts.later_calls += said_->calls;
    } else {
      ++counts.at_once;
    }
  }

  cell* cell_;
  const entry* attack_;
  std::size_t size_;
  shared_object<progress> said_;
};

/// The parameters of an experiment of attacks.
inline std::vector<parameter> parameters(std::span<const entry> entries,
                                         std::vector<value> quick_ones) {
  std::vector<value> names;
  for (const entry& each : entries) names.emplace_back(std::string_view{each.name});
  std::vector<std::string_view> choices;
  for (const entry& each : entries) choices.emplace_back(each.name);
  return {{"attack", "what is done wrong", names, std::move(quick_ones), "", 1, choices},
          {"size", "of the blocks", {8, 128, 4096, 262144}, {128}, "bytes", 8},
          {"attempts", "each in a process of its own", {20}, {3}}};
}

inline constexpr std::string_view how =
    "Each attempt is made in a copy of a process whose heap was used before, after a random number "
    "of allocations, and the copy goes on to allocate and free afterwards. What counts is the "
    "effect, not a message: a block that overlaps another one, memory that malloc never owned, "
    "bytes of another block that changed or can be read. The same without the fault is tried as "
    "often.";

inline constexpr std::string_view limits_of_all =
    "Other programs: whether a stop comes in time depends on what a program does next. A process "
    "that is stopped may have been stopped by chance, as when a table of the allocator was "
    "overwritten. Copies of a process share the secrets of its allocator; each round has a new "
    "process. ";

/// Measures one cell: the attack that its parameter names.
inline void measure(cell& the_cell, std::span<const entry> entries) {
  const auto attack = std::find_if(entries.begin(), entries.end(), [&](const entry& each) {
    return the_cell.text("attack") == each.name;
  });
  if (attack == entries.end()) the_cell.refuse("attack", "there is no such attack");
  if (the_cell.size("size") < attack->least_bytes) {
    the_cell.refuse("size", "not applicable: the attack needs larger blocks");
  }
  const std::uint64_t attempts = the_cell.size("attempts");
  // The heap has been used before, as in a program that runs for a while.
  constexpr std::size_t warm = 1000;
  for (std::size_t i = 0; i < warm; ++i) {
    void* const block = std::malloc(hidden(1 + i % 512));
    escape(block);
    std::free(block);
  }
  the_cell.expect_calls(warm);
  the_cell.each_repeat([&](sample& the_sample) {
    outcomes counts;
    trial the_trial{the_cell, *attack};
    the_sample.measure(attempts, [&] { the_trial.run(attempts, counts); });
    const auto share = [&](std::uint64_t part) {
      return static_cast<double>(part) / static_cast<double>(attempts);
    };
    the_sample.set("corrupted", share(counts.effective));
    the_sample.set("stopped_at_once", share(counts.at_once));
    the_sample.set("stopped_later", share(counts.later));
    the_sample.set("calls_until_stop",
                   static_cast<double>(counts.later_calls) /
                       static_cast<double>(std::max<std::uint64_t>(1, counts.later)));
    the_sample.set("hung", share(counts.hung));
    the_sample.set("false_alarms", share(counts.alarms));
    the_cell.check("work", counts.failures == 0,
                   "{} of {} attempts did not come to the deed, or showed its effect without it",
                   counts.failures, 2 * attempts);
  });
}

/// Returns: the experiment of these attacks. `run` measures one cell of them.
inline experiment experiment_of(std::string_view id, std::string_view question,
                                std::span<const entry> entries, std::vector<value> quick_ones,
                                void (*run)(cell&)) {
  return {.id = id,
          .question = question,
          .isolates = how,
          .not_shown = limits_of_all,
          .parameters = parameters(entries, std::move(quick_ones)),
          .quantities = quantities,
          .subjects = {{"malloc", "the malloc of this process", run, "", subject_kind::malloc}},
          .baseline = "malloc@glibc",
          .repeats = 1,
          .dropped_repeats = 0,
          .work_parameters = {"attack"}};
}

} // namespace attacks
