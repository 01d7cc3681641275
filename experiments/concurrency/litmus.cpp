// What two threads may see of each other under each memory order, counted.
//
// build: with_sanitizers
#include <atomic>
#include <cstdint>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "kernel/ticks.hpp"
#include "sources/meeting.hpp"
#include "sources/processors.hpp"
#include "sources/quantities.hpp"

namespace {

using namespace heapwise::bench;
using namespace concurrency;

/// The two words that the tests write and read. In each round they hold the last round's number
/// until they are written, so that nothing has to be reset: the last number is the test's 0.
struct words {
  alignas(line_bytes) std::atomic<std::uint32_t> first{0};
  alignas(line_bytes) std::atomic<std::uint32_t> second{0};
};

/// What a thread had of a round: whether its reads saw this round's value, and from when to when.
struct seen {
  bool one = false;
  bool two = false;
  std::uint64_t from_ticks = 0;
  std::uint64_t to_ticks = 0;
};

struct relaxed {
  static constexpr auto store = std::memory_order_relaxed;
  static constexpr auto load = std::memory_order_relaxed;
};
struct acq_rel {
  static constexpr auto store = std::memory_order_release;
  static constexpr auto load = std::memory_order_acquire;
};
struct seq_cst {
  static constexpr auto store = std::memory_order_seq_cst;
  static constexpr auto load = std::memory_order_seq_cst;
};

/// Each thread writes its word and reads the other's. Both read the old value: weak.
template <class Order>
class store_buffering {
 public:
  static constexpr bool weak_is_allowed = Order::store != std::memory_order_seq_cst;

  static seen step(int self, words& shared, std::uint32_t number) noexcept {
    auto& own = self == 0 ? shared.first : shared.second;
    auto& other = self == 0 ? shared.second : shared.first;
    own.store(number, Order::store);
    return {.one = other.load(Order::load) == number};
  }
  static bool weak(const seen& of_first, const seen& of_second) noexcept {
    return !of_first.one && !of_second.one;
  }
  static bool met(const seen& of_first, const seen& of_second) noexcept {
    return of_first.from_ticks < of_second.to_ticks && of_second.from_ticks < of_first.to_ticks;
  }

  void learn(int, const seen&) noexcept {}
  [[nodiscard]] std::uint64_t late_ticks() const noexcept { return 0; }
};

/// One thread writes the message and then the flag, the other reads the flag and then the message.
/// The flag without the message: weak.
template <class Order>
class message_passing {
 public:
  static constexpr bool weak_is_allowed = Order::store == std::memory_order_relaxed;

  static seen step(int self, words& shared, std::uint32_t number) noexcept {
    if (self == 0) {
      shared.first.store(number, std::memory_order_relaxed);
      shared.second.store(number, Order::store);
      return {};
    }
    const bool flag = shared.second.load(Order::load) == number;
    return {.one = flag, .two = shared.first.load(std::memory_order_relaxed) == number};
  }
  static bool weak(const seen&, const seen& reader) noexcept { return reader.one && !reader.two; }
  /// The writes arrived between the two reads.
  static bool met(const seen&, const seen& reader) noexcept { return !reader.one && reader.two; }

  /// The writes need time to get across. A reader that came too early comes later the next time,
  /// and the other way round: so most rounds are near the instant at which they arrive.
  void learn(int self, const seen& last) noexcept {
    if (self == 0) return;
    if (!last.one && late_ticks_ < latest) late_ticks_ += stride;
    if (last.one && late_ticks_ != 0) late_ticks_ -= stride;
  }
  [[nodiscard]] std::uint64_t late_ticks() const noexcept { return late_ticks_; }

 private:
  static constexpr std::uint64_t stride = 8;
  static constexpr std::uint64_t latest = 2048;
  std::uint64_t late_ticks_ = 0;
};

struct counts {
  std::uint64_t weak = 0;
  std::uint64_t met = 0;
};

template <class Test>
class rounds {
 public:
  explicit rounds(std::uint64_t count) : count_{count}, of_first_{count}, of_second_{count} {}

  void play(int self) noexcept {
    const mapped_array<seen>& results = self == 0 ? of_first_ : of_second_;
    Test test;
    for (std::uint64_t round = 0; round < count_; ++round) {
      const std::uint64_t from_ticks = meeting_.wait(self, round, test.late_ticks());
      seen result = Test::step(self, shared_, static_cast<std::uint32_t>(round + 1));
      result.to_ticks = now_ticks();
      result.from_ticks = from_ticks;
      results[round] = result;
      test.learn(self, result);
    }
  }

  /// True if both words hold what the last round wrote.
  [[nodiscard]] bool played() const noexcept {
    return shared_.first.load() == count_ && shared_.second.load() == count_;
  }

  [[nodiscard]] counts count() const noexcept {
    counts totals;
    for (std::uint64_t round = 0; round < count_; ++round) {
      if (Test::weak(of_first_[round], of_second_[round])) ++totals.weak;
      if (Test::met(of_first_[round], of_second_[round])) ++totals.met;
    }
    return totals;
  }

 private:
  std::uint64_t count_;
  mapped_array<seen> of_first_;
  mapped_array<seen> of_second_;
  meeting meeting_;
  words shared_;
};

template <class Test>
void measure_test(cell& the_cell) {
  constexpr int both = 2;
  const processors where{the_cell, both};
  const std::uint64_t count = the_cell.size("rounds");
  the_cell.each_repeat([&](sample& the_sample) {
    rounds<Test> test{count};
    measure_placed(
        the_cell, the_sample, where, both, [count] { return count; },
        [&test](team_member& member) {
          member.start();
          test.play(member.index());
          member.stop();
        });
    const counts totals = test.count();
    const auto per_100k = [count](std::uint64_t outcomes) {
      return 1e5 * static_cast<double>(outcomes) / static_cast<double>(count);
    };
    the_sample.set("weak", per_100k(totals.weak));
    the_sample.set("met", per_100k(totals.met));
    the_cell.check("order", Test::weak_is_allowed || totals.weak == 0,
                   "{} weak outcomes in {} rounds: {}", totals.weak, count,
                   Test::weak_is_allowed ? "allowed" : "forbidden");
    the_cell.check("work", test.played(), "{} rounds, in {} of which the threads met", count,
                   totals.met);
  });
}

template <class Order>
void measure(cell& the_cell) {
  if (the_cell.text("test") == "store_buffering") {
    measure_test<store_buffering<Order>>(the_cell);
  } else {
    measure_test<message_passing<Order>>(the_cell);
  }
}

const experiment question{
    .id = "concurrency/litmus",
    .question = "Which outcomes do relaxed, acquire-release and seq_cst let two threads see?",
    .isolates =
        "The memory order alone: in each round two threads on two cores, let go at the same "
        "instant, write and read two words. store_buffering: each writes its own word and reads "
        "the other's; both may miss the other's write unless all is seq_cst. message_passing: one "
        "writes a message and then a flag; the flag may be seen without the message only when "
        "relaxed.",
    .not_shown =
        "Other shapes (load buffering, independent readers), and that what was not seen cannot "
        "happen: none in all these rounds bounds how often, by a machine and a compiler. x86 keeps "
        "stores in order and loads in order, so message_passing shows nothing there even when "
        "relaxed, and the order matters to the compiler alone; the ARM processor of the report "
        "latency-lab did show it. met says how much a 0 is worth: the rounds in which the threads "
        "were at it "
        "at the same time. The figures are counts, not times: a smaller change of them says "
        "nothing.",
    .parameters = {{"test",
                    "the shape of the test",
                    {"store_buffering", "message_passing"},
                    {"store_buffering", "message_passing"}},
                   {"rounds", "rounds in a repeat", {100'000}, {2'000}}},
    .quantities = {{"weak", "per 100k", better::lower,
                    "rounds with the weak outcome; where the order forbids it, a repeat with any "
                    "fails"},
                   {"met", "per 100k", better::higher,
                    "store_buffering: rounds in which the threads overlapped on the processor's "
                    "clock; message_passing: in which the writes arrived between the reads"}},
    .subjects = {{"relaxed", "memory_order_relaxed", measure<relaxed>},
                 {"acq_rel", "release stores, acquire loads", measure<acq_rel>},
                 {"seq_cst", "memory_order_seq_cst", measure<seq_cst>}},
    .baseline = "relaxed",
    .repeats = 4,
    .expectations = {{.says = "relaxed shows store buffering",
                      .quantity = "weak",
                      .subject = "relaxed",
                      .parameters = {{"test", "store_buffering"}},
                      .at_least = 1},
                     {.says = "acquire-release shows store buffering",
                      .quantity = "weak",
                      .subject = "acq_rel",
                      .parameters = {{"test", "store_buffering"}},
                      .at_least = 1},
                     {.says = "seq_cst shows no store buffering",
                      .quantity = "weak",
                      .subject = "seq_cst",
                      .parameters = {{"test", "store_buffering"}},
                      .at_most = 0},
                     {.says = "acquire-release passes every message whole",
                      .quantity = "weak",
                      .subject = "acq_rel",
                      .parameters = {{"test", "message_passing"}},
                      .at_most = 0},
                     {.says = "seq_cst passes every message whole",
                      .quantity = "weak",
                      .subject = "seq_cst",
                      .parameters = {{"test", "message_passing"}},
                      .at_most = 0}},
    .answers = {{.quantity = "weak", .subject = "seq_cst", .over = "relaxed"},
                {.quantity = "weak", .subject = "acq_rel", .over = "relaxed"}},
    .work_parameters = {"test"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
