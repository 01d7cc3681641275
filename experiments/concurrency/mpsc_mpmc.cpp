// Many producers, one or many consumers, one queue.
//
// build: with_sanitizers
#include <atomic>
#include <memory>
#include <mutex>

#include "harness/experiment.hpp"
#include "sources/library_queues.hpp"
#include "sources/processors.hpp"
#include "sources/quantities.hpp"
#include "sources/rings.hpp"
#include "sources/waiting.hpp"

namespace {

using namespace heapwise::bench;
using namespace concurrency;

constexpr std::size_t capacity = 1024;

struct shape {
  int producers;
  int consumers;

  static shape of(std::string_view name) { return {4, name == "4P1C" ? 1 : 4}; }
  [[nodiscard]] int threads() const { return producers + consumers; }
};

/// What went in, or came out: how many, and two sums that a lost, doubled or torn message changes.
struct ledger {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t mixed = 0;

  [[gnu::always_inline]] void enter(std::uint64_t number) noexcept {
    ++count;
    sum += number;
    mixed += number * 0x9e3779b97f4a7c15U ^ number >> 32;
  }
  void add(const ledger& other) noexcept {
    count += other.count;
    sum += other.sum;
    mixed += other.mixed;
  }
  bool operator==(const ledger&) const = default;
};

template <class Queue>
class market {
 public:
  market(Queue& queue, const shape& form, patience looks)
      : queue_{&queue}, form_{form}, looks_{looks}, producing_{form.producers} {}

  void play(team_member& member, std::uint64_t lasts_ns) {
    const int index = member.index();
    ledger mine;
    member.start();
    if (index < form_.producers) {
      mine = produce(static_cast<std::uint64_t>(index) << 40, member.start_ns() + lasts_ns);
    } else {
      mine = consume();
    }
    member.stop();
    const std::scoped_lock lock{mutex_};
    (index < form_.producers ? in_ : out_).add(mine);
  }

  [[nodiscard]] std::uint64_t messages() const noexcept { return out_.count; }
  [[nodiscard]] std::uint64_t pushed() const noexcept { return in_.count; }
  [[nodiscard]] bool is_balanced() const noexcept { return in_ == out_ && in_.count != 0; }

 private:
  ledger produce(std::uint64_t number, std::uint64_t until_ns) {
    constexpr int between_looks = 256;
    waiter waiting{looks_};
    ledger mine;
    do {
      for (int i = 0; i < between_looks; ++i) {
        mine.enter(++number);
        waiting.until([&] { return queue_->push(&number, 1) != 0; });
      }
    } while (now_ns() < until_ns);
    producing_.fetch_sub(1, std::memory_order_release); // pairs with the acquire in consume
    return mine;
  }

  ledger consume() {
    waiter waiting{looks_};
    ledger mine;
    std::uint64_t number = 0;
    while (true) {
      // Asked before the queue is: what was pushed before the last producer left is still found.
      const bool is_last_look = producing_.load(std::memory_order_acquire) == 0;
      if (queue_->pop(&number, 1) != 0) {
        mine.enter(number);
      } else if (is_last_look) {
        return mine;
      } else {
        waiting.wait();
      }
    }
  }

  Queue* queue_;
  shape form_;
  patience looks_;
  alignas(64) std::atomic<int> producing_;
  alignas(64) std::mutex mutex_;
  ledger in_;
  ledger out_;
};

template <template <class, std::size_t> class Queue>
void measure(cell& the_cell) {
  using queue_type = Queue<std::uint64_t, capacity>;
  const shape form = shape::of(the_cell.text("shape"));
  const processors where{the_cell, 1};
  const auto queue = std::make_unique<queue_type>();
  the_cell.each_repeat([&](sample& the_sample) {
    market<queue_type> all{*queue, form, patience_of(form.threads(), where.count())};
    const std::uint64_t elapsed_ns = measure_placed(
        the_cell, the_sample, where, form.threads(), [&all] { return all.messages(); },
        [&](team_member& member) { all.play(member, duration_ns(the_cell)); });
    the_sample.set("throughput", millions_per_second(all.messages(), elapsed_ns));
    the_cell.check("work", all.is_balanced(), "{} messages came out of {} that went in",
                   all.messages(), all.pushed());
  });
}

std::vector<subject> subjects() {
  std::vector<subject> all{
      {"mutex", "ring behind a std::mutex", measure<mutex_ring>},
      {"bounded_mpmc", "ring without a lock, a turn for each slot", measure<mpmc_ring>}};
#if defined(HEAPWISE_HAS_CONCURRENTQUEUE)
  all.push_back({"concurrentqueue", "moodycamel::ConcurrentQueue", measure<concurrent_queue>});
#else
  all.push_back(
      {"concurrentqueue", "moodycamel::ConcurrentQueue", nullptr, concurrent_queue_missing});
#endif
#if defined(HEAPWISE_HAS_BOOST_QUEUE)
  all.push_back({"boost_queue", "boost::lockfree::queue, fixed size", measure<boost_queue>});
#else
  all.push_back({"boost_queue", "boost::lockfree::queue", nullptr, boost_queue_missing});
#endif
#if defined(HEAPWISE_HAS_TBB)
  all.push_back({"tbb_bounded", "oneTBB concurrent_bounded_queue", measure<tbb_bounded_queue>});
#else
  all.push_back({"tbb_bounded", "oneTBB concurrent_bounded_queue", nullptr, tbb_queue_missing});
#endif
  return all;
}

const experiment question{
    .id = "concurrency/mpsc_mpmc",
    .question = "Which queue moves the most messages from four producers to one or four consumers?",
    .isolates =
        "The two ends of a queue, where several threads compete. A message is a number of 8 "
        "bytes and is sent alone. The queue has room for 1024 messages. Each thread stays on one "
        "processor; if there are more threads than processors, they are spread evenly.",
    .not_shown =
        "A machine with a processor for each thread. Here five or eight threads share two "
        "processors, so the figure depends on the scheduler. If a thread of a queue waits for "
        "another one that does not run, it loses a time slice; a queue without such waits loses "
        "none. With more processors the order of the queues may be another one. After 64 "
        "unsuccessful attempts a thread gives its processor away. Not measured either: the order "
        "in which messages of several producers arrive, fairness, and batches "
        "(concurrency/queue). concurrentqueue keeps a queue for each producer, so it has more "
        "room; it is used without tokens, which is how most programs use it first.",
    .parameters = {{"shape", "producers and consumers", {"4P1C", "4P4C"}, {"4P1C", "4P4C"}},
                   duration(30)},
    .quantities = {throughput("messages")},
    .subjects = subjects(),
    .baseline = "mutex",
    .expectations = {{.says = "the bounded ring without a lock carries more than a queue with one",
                      .quantity = "throughput",
                      .subject = "bounded_mpmc",
                      .over = "mutex",
                      .at_least = 1.0}},
    .answers = {{.quantity = "throughput"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
