// Tapes as programs of reinforcement learning and inference were recorded, beside AllocatorBench's.
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "sources/measured_tape.hpp"
#include "sources/mix.hpp"
#include "sources/rl_measured_tables.hpp"

namespace {

using namespace heaps;

constexpr std::string_view reported = "rl_small";
/// The largest block that the published report counts as small.
constexpr std::uint32_t most_small = 512;

/// What a tape asks for, as shares.
class tape_shares {
 public:
  explicit tape_shares(const thread_tapes& tapes) {
    for (std::size_t i = 0; i < tapes.threads(); ++i) add(tapes.of(i).operations);
  }
  [[nodiscard]] double small() const { return ratio(small_, allocations_); }
  [[nodiscard]] double small_bytes() const { return ratio(small_bytes_, bytes_); }
  /// Allocations that follow an allocation.
  [[nodiscard]] double again() const { return ratio(again_, allocations_); }

 private:
  void add(std::span<const operation> operations) {
    bool was_allocation = false;
    for (const operation each : operations) {
      if (!each.frees()) count(each.bytes(), was_allocation);
      was_allocation = !each.frees();
    }
  }
  void count(std::uint64_t bytes, bool follows_another) {
    ++allocations_;
    bytes_ += bytes;
    if (follows_another) ++again_;
    if (bytes > most_small) return;
    ++small_;
    small_bytes_ += bytes;
  }

  std::uint64_t allocations_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t small_ = 0;
  std::uint64_t small_bytes_ = 0;
  std::uint64_t again_ = 0;
};

thread_tapes tapes_of(cell& the_cell) {
  const std::string_view program = the_cell.text("program");
  const std::size_t threads = the_cell.size("threads");
  const std::size_t each = the_cell.size("tape") / 2 * 2;
  if (program == reported) return thread_tapes{rl_small, threads, each, the_cell.random()};
  const measured_mix& mix = *std::ranges::find(measured::mixes, program, &measured_mix::program);
  return thread_tapes{threads, each, each / 2, [&](std::span<operation> part) {
                        return measured_writer{mix, part, the_cell.random().next()}.write();
                      }};
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const thread_tapes tapes = tapes_of(the_cell);
    const tape_shares shares{tapes};
    measure_tapes<Source>(the_cell, tapes, 0, [&](sample& the_sample) {
      the_sample.set("small_share", shares.small());
      the_sample.set("small_bytes_share", shares.small_bytes());
      the_sample.set("again_share", shares.again());
    });
  }
};

experiment made() {
  experiment tapes_of_programs = mix_experiment({
      .id = "heap/rl_measured",
      .question = "How fast are blocks as programs of RL and inference ask for them?",
      .isolates =
          "malloc and free with sizes and lifetimes drawn from recordings of programs at work; "
          "rl_small is the tape of AllocatorBench.",
      .subjects = subjects<measure>(),
  });
  std::vector<value> programs{reported};
  for (const measured_mix& each : measured::mixes) programs.emplace_back(each.program);
  tapes_of_programs.parameters.insert(tapes_of_programs.parameters.begin(),
                                      {"program",
                                       "whose recording the tape is drawn from",
                                       programs,
                                       {reported, measured::mixes[0].program}});
  tapes_of_programs.quantities.push_back(
      {"small_share", "", better::lower, "blocks of at most 512 bytes, of all: it is the tape's"});
  tapes_of_programs.quantities.push_back(
      {"again_share", "", better::lower,
       "allocations that follow an allocation: it is the tape's"});
  tapes_of_programs.quantities.push_back(
      {"small_bytes_share", "", better::lower,
       "bytes in blocks of at most 512 bytes: it is the tape's"});
  return tapes_of_programs;
}

const experiment question = made();

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
