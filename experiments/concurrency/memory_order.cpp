// What the order of an atomic operation costs, in four patterns.
//
// build: with_sanitizers
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "sources/contest.hpp"
#include "sources/waiting.hpp"

namespace {

using namespace heapwise::bench;
using namespace concurrency;

struct relaxed {
  static constexpr auto load = std::memory_order_relaxed;
  static constexpr auto store = std::memory_order_relaxed;
  static constexpr auto both = std::memory_order_relaxed;
  static constexpr bool publishes = false;
};
struct acq_rel {
  static constexpr auto load = std::memory_order_acquire;
  static constexpr auto store = std::memory_order_release;
  static constexpr auto both = std::memory_order_acq_rel;
  static constexpr bool publishes = true;
};
struct seq_cst {
  static constexpr auto load = std::memory_order_seq_cst;
  static constexpr auto store = std::memory_order_seq_cst;
  static constexpr auto both = std::memory_order_seq_cst;
  static constexpr bool publishes = true;
};

struct alignas(64) word {
  std::atomic<std::uint64_t> value{0};
};

/// What the leader of two threads stores when the time is up.
constexpr std::uint64_t closed = UINT64_MAX;

/// True once in this many turns, when the clock should be read.
constexpr bool is_time_to_look(std::uint64_t turn) noexcept { return turn % 1024 == 0; }

/// One word goes to and fro: odd numbers are the leader's, even ones the follower's.
template <class Order>
class flag_handoff {
 public:
  /// Returns the hand-overs, in both directions.
  std::uint64_t lead(std::uint64_t until_ns) noexcept {
    waiter waiting{patience::apart, 0};
    std::uint64_t number = 0;
    do {
      flag_.value.store(number + 1, Order::store);
      number += 2;
      waiting.until([&] { return flag_.value.load(Order::load) == number; });
    } while (!is_time_to_look(number / 2) || now_ns() < until_ns);
    flag_.value.store(closed, Order::store);
    return number;
  }

  void follow() noexcept {
    waiter waiting{patience::apart, 0};
    for (std::uint64_t number = 1;; number += 2) {
      std::uint64_t got = 0;
      waiting.until([&] { return (got = flag_.value.load(Order::load)) >= number; });
      if (got == closed) return;
      flag_.value.store(got + 1, Order::store);
      followed_ = got + 1;
    }
  }

  /// True if the follower gave back the last number.
  [[nodiscard]] bool ends_with(std::uint64_t number) const noexcept { return followed_ == number; }

 private:
  word flag_;
  alignas(64) std::uint64_t followed_ = 0;
};

/// A message of a line, told by one word that it is there and by another that it was read.
template <class Order>
class publish {
 public:
  std::uint64_t lead(std::uint64_t until_ns) noexcept {
    waiter waiting{patience::apart, 0};
    std::uint64_t number = 0;
    do {
      ++number;
      message_.fill(number);
      there_.value.store(number,
                         Order::store); // what the reader's load sees comes with the message
      waiting.until([&] { return read_.value.load(Order::load) == number; });
    } while (!is_time_to_look(number) || now_ns() < until_ns);
    there_.value.store(closed, Order::store);
    return number;
  }

  void follow() noexcept {
    waiter waiting{patience::apart, 0};
    for (std::uint64_t number = 1;; ++number) {
      std::uint64_t got = 0;
      waiting.until([&] { return (got = there_.value.load(Order::load)) >= number; });
      if (got == closed) return;
      for (const std::uint64_t part : message_) sum_ += part;
      read_.value.store(number, Order::store); // from here on the writer may write the next
    }
  }

  [[nodiscard]] bool ends_with(std::uint64_t number) const noexcept {
    return sum_ == message_.size() * (number * (number + 1) / 2);
  }

 private:
  word there_;
  word read_;
  alignas(64) std::array<std::uint64_t, 8> message_{};
  alignas(64) std::uint64_t sum_ = 0;
};

/// A ring in its plainest form: both sides look at both indices for each message, so that the
/// orders of the indices are what there is to pay. concurrency/queue has a better one.
template <class Order>
class ring {
 public:
  std::uint64_t lead(std::uint64_t until_ns) noexcept {
    waiter waiting{patience::apart, 0};
    std::uint64_t at = 0;
    do {
      waiting.until([&] { return at - taken_.value.load(Order::load) < slots_.size(); });
      slots_[at % slots_.size()] = at;
      written_.value.store(++at, Order::store);
    } while (!is_time_to_look(at) || now_ns() < until_ns);
    waiting.until([&] { return taken_.value.load(Order::load) == at; });
    written_.value.store(closed, Order::store);
    return at;
  }

  void follow() noexcept {
    waiter waiting{patience::apart, 0};
    for (std::uint64_t at = 0;; ++at) {
      std::uint64_t written = 0;
      waiting.until([&] { return (written = written_.value.load(Order::load)) > at; });
      if (written == closed) return;
      sum_ += slots_[at % slots_.size()];
      taken_.value.store(at + 1, Order::store);
    }
  }

  [[nodiscard]] bool ends_with(std::uint64_t number) const noexcept {
    return sum_ == number * (number - 1) / 2;
  }

 private:
  word written_;
  word taken_;
  alignas(64) std::array<std::uint64_t, 1024> slots_{};
  alignas(64) std::uint64_t sum_ = 0;
};

template <class Pattern>
void measure_pair(cell& the_cell) {
  constexpr int both = 2;
  const processors where{the_cell, both};
  the_cell.each_repeat([&](sample& the_sample) {
    Pattern pattern;
    escape(&pattern);
    std::uint64_t done = 0;
    const std::uint64_t elapsed_ns = measure_placed(
        the_cell, the_sample, where, both, [&done] { return done; },
        [&](team_member& member) {
          member.start();
          if (member.index() == 0) {
            done = pattern.lead(member.start_ns() + duration_ns(the_cell));
          } else {
            pattern.follow();
          }
          member.stop();
        });
    the_sample.set("throughput", millions_per_second(done, elapsed_ns));
    the_cell.check(
        "work", pattern.ends_with(done), "{} hand-overs, {}", done,
        pattern.ends_with(done) ? "and all of them arrived" : "which is not what arrived");
  });
}

template <class Order>
void measure_fetch_add(cell& the_cell, int threads) {
  const processors where{the_cell, 1};
  the_cell.each_repeat([&](sample& the_sample) {
    word counter;
    escape(&counter);
    const contest_result done = run_contest(the_cell, the_sample, where, threads, [&counter](int) {
      return [&counter] { counter.value.fetch_add(1, Order::both); };
    });
    the_sample.set("throughput", done.throughput());
    the_cell.check("work", counter.value == done.steps, "the counter says {} after {} additions",
                   counter.value, done.steps);
  });
}

/// The threads of a fetch_add pattern; 0 for the others.
int threads_of(std::string_view pattern) {
  if (pattern == "fetch_add_1") return 1;
  if (pattern == "fetch_add_2") return 2;
  return pattern == "fetch_add_4" ? 4 : 0;
}

template <class Order>
void measure(cell& the_cell) {
  const std::string_view pattern = the_cell.text("pattern");
  if (const int threads = threads_of(pattern); threads != 0) {
    return measure_fetch_add<Order>(the_cell, threads);
  }
  if (pattern == "flag_handoff") return measure_pair<flag_handoff<Order>>(the_cell);
  if constexpr (Order::publishes) {
    if (pattern == "publish") return measure_pair<publish<Order>>(the_cell);
    measure_pair<ring<Order>>(the_cell);
  } else {
    the_cell.refuse("order", "relaxed does not publish what was written before: it would be wrong");
  }
}

void measure_empty_loop(cell& the_cell) {
  const int threads = threads_of(the_cell.text("pattern"));
  if (threads == 0)
    the_cell.refuse("empty loop", "a hand-over is nothing but its atomic operations");
  const processors where{the_cell, 1};
  the_cell.each_repeat([&](sample& the_sample) {
    const contest_result done = run_contest(the_cell, the_sample, where, threads,
                                            [](int index) { return [index] { keep(index); }; });
    the_sample.set("throughput", done.throughput());
    the_cell.check("work", done.steps != 0, "{} turns without an addition", done.steps);
  });
}

const experiment question{
    .id = "concurrency/memory_order",
    .question = "What do acquire-release and seq_cst cost over relaxed?",
    .isolates =
        "The order given to the atomic operations of one pattern: a counter that 1, 2 or 4 "
        "threads add to, a flag that goes to and fro, a message published and acknowledged, the "
        "indices of a ring. Threads that hand something over are on cores of their own.",
    .not_shown =
        "What goes wrong with too weak an order (concurrency/litmus), and what the compiler may "
        "rearrange around a relaxed operation. On x86 fetch_add is the same instruction for every "
        "order, loads are plain moves for every order, and only a seq_cst store is another one, an "
        "exchange: so additions must be alike, the ring is where seq_cst shows, and a flag can "
        "even travel sooner, as an exchange does not wait behind other stores. With fetch_add_4 "
        "on two processors only two threads fight at once. relaxed is refused where it would be "
        "wrong.",
    .parameters = {{"pattern",
                    "what the operations are for",
                    {"fetch_add_1", "fetch_add_2", "fetch_add_4", "flag_handoff", "publish",
                     "ring"},
                    {"fetch_add_1", "flag_handoff", "publish", "ring"}},
                   duration(12)},
    .quantities = {throughput("additions of all threads; hand-overs in both directions; messages"),
                   processor_time},
    .subjects = {{"relaxed", "memory_order_relaxed", measure<relaxed>},
                 {"acq_rel", "release stores, acquire loads, acq_rel additions", measure<acq_rel>},
                 {"seq_cst", "memory_order_seq_cst", measure<seq_cst>},
                 {"empty_loop", "the loop without an addition", measure_empty_loop}},
    .baseline = "acq_rel",
    .expectations = {{.says = "an addition costs the same with seq_cst as with acquire-release",
                      .quantity = "throughput",
                      .subject = "seq_cst",
                      .over = "acq_rel",
                      .parameters = {{"pattern", "fetch_add_1"}},
                      .at_least = 0.9,
                      .at_most = 1.1},
                     {.says = "seq_cst does not make a ring faster",
                      .quantity = "throughput",
                      .subject = "seq_cst",
                      .over = "acq_rel",
                      .parameters = {{"pattern", "ring"}},
                      .at_most = 1.05}},
    .answers = {{.quantity = "throughput",
                 .subject = "acq_rel",
                 .over = "relaxed",
                 .parameters = {{"pattern", "fetch_add_1"}}},
                {.quantity = "throughput", .subject = "seq_cst", .over = "acq_rel"}},
    .work_parameters = {"pattern"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
