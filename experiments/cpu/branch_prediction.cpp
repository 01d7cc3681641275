// A branch whose outcomes repeat after 2 to 512 Ki of them: short patterns are learned, long ones
// are not.
//
// build: aligned_loops
// build again: O3_native = -O3 -march=native
// build again: clang_O3_native = clang -O3 -march=native
#include <algorithm>
#include <cstddef>

#include "harness/builds.hpp"
#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/rate.hpp"

namespace {

using namespace heapwise::bench;

/// All patterns are written out to this length, so that all of them read the same memory.
constexpr std::size_t written = 524'288; // 512 KiB: read in order, never waited for
constexpr std::uint64_t taken_adds = 3;

using outcomes = mapped_array<unsigned char>;

/// The empty statement in the arm is what keeps the branch a jump: an arm that holds one cannot be
/// turned into a conditional move.
struct jump {
  static void add(std::uint64_t& sum, unsigned char taken) noexcept {
    if (taken != 0) {
      forget(sum);
      sum += taken_adds;
    }
  }
};

/// The same as a user writes it: what the compiler makes of it is its own affair.
struct plain {
  static void add(std::uint64_t& sum, unsigned char taken) noexcept {
    if (taken != 0) sum += taken_adds;
  }
};

struct branchless {
  static void add(std::uint64_t& sum, unsigned char taken) noexcept {
    sum += taken_adds & (0 - std::uint64_t{taken});
    forget(sum);
  }
};

struct nothing {
  static void add(std::uint64_t& sum, unsigned char) noexcept { forget(sum); }
};

template <class Way>
std::uint64_t walk(const outcomes& pattern, std::uint64_t rounds) noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < written; ++i) Way::add(sum, pattern[i]);
  }
  return sum;
}

void always(cell&, const outcomes& pattern) { std::ranges::fill(pattern.span(), 1); }

void alternating(cell&, const outcomes& pattern) {
  for (std::size_t i = 0; i < written; ++i) pattern[i] = i % 2;
}

/// As many taken as not, in an order that the seed decides, over and over.
void shuffled(cell& the_cell, const outcomes& pattern) {
  const std::size_t length = std::min(the_cell.size("length"), written);
  for (std::size_t i = 0; i < length; ++i) pattern[i] = i % 2;
  the_cell.random().shuffle(pattern.span().first(length));
  for (std::size_t i = length; i < written; ++i) pattern[i] = pattern[i - length];
}

template <class Way, void (*write)(cell&, const outcomes&)>
void measure(cell& the_cell) {
  const std::uint64_t rounds = std::max(the_cell.size("items") / written, std::size_t{1});
  const outcomes pattern{written};
  write(the_cell, pattern);
  const auto taken = static_cast<std::uint64_t>(std::ranges::count(pattern.span(), 1));
  const bool adds = !std::is_same_v<Way, nothing>;
  escape(pattern.data());
  measure_rate(the_cell, rounds * written, adds ? taken_adds * taken * rounds : 0,
               [&] { return walk<Way>(pattern, rounds); });
}

const experiment question{
    .id = "cpu/branch_prediction",
    .question = "From which length on does a branch's pattern cost, and how much?",
    .isolates =
        "One branch at one address; its outcomes come from memory that is read in order and is the "
        "same size for every length. A pattern has as many taken as not, in random order.",
    .not_shown =
        "Many branches that share the predictor. `random` keeps its branch a jump by force. "
        "`random_plain` is the same as a user writes it: compilers make vector or conditional "
        "instructions of it, and then there is nothing to predict. That is why the report "
        "latency-lab saw "
        "nothing: 7.5 G items/s are more than two for each cycle of its processor, which takes "
        "one taken branch in a cycle at most; its branch was not in the program. Its figure for "
        "`random` therefore stands at `random_plain`. always_taken, alternating and empty_loop do "
        "not depend on the length: their rows show the noise.",
    .parameters = {{"length",
                    "outcomes after which the pattern repeats",
                    {2, 16, 128, 1024, 4096, 16'384, 65'536, 524'288},
                    {2, 65'536},
                    "",
                    2},
                   {"items", "branches in the timed region", {8'388'608}, {524'288}},
                   builds()},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one branch"}, processor_time},
    .subjects =
        {{"always_taken", "always taken", measure<jump, always>},
         {"alternating", "every second taken", measure<jump, alternating>},
         {"random", "a random pattern", measure<jump, shuffled>},
         {"random_plain", "the same, the branch left to the compiler", measure<plain, shuffled>},
         {"branchless", "the same, computed without a branch", measure<branchless, shuffled>},
         {"empty_loop", "the pattern is read, nothing is done", measure<nothing, shuffled>}},
    .baseline = "branchless",
    .expectations =
        {{.says = "a pattern longer than the predictor's history costs at least twice a short one",
          .quantity = rate_name,
          .subject = "random",
          .over = "random",
          .parameters = {{"length", 65'536}},
          .over_parameters = {{"length", 2}},
          .at_most = 0.5},
         {.says = "a branch that cannot be predicted is slower than none",
          .quantity = rate_name,
          .subject = "random",
          .over = "branchless",
          .parameters = {{"length", 65'536}},
          .at_most = 0.7},
         {.says = "without a branch the length does not matter",
          .quantity = rate_name,
          .subject = "branchless",
          .over = "branchless",
          .parameters = {{"length", 65'536}},
          .over_parameters = {{"length", 2}},
          .at_least = 0.9,
          .at_most = 1.1}},
    .answers = {{.quantity = "throughput",
                 .subject = "random",
                 .parameters = {{"length", 1024}},
                 .over_parameters = {{"length", 2}}},
                {.quantity = "throughput",
                 .subject = "random",
                 .parameters = {{"length", 16384}},
                 .over_parameters = {{"length", 2}}},
                {.quantity = "throughput",
                 .subject = "random",
                 .parameters = {{"length", 524288}},
                 .over_parameters = {{"length", 2}}}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv, this_build); }
