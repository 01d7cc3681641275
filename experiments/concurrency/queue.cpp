// One producer, one consumer: does a queue without a lock pay?
//
// build: with_sanitizers
#include <memory>

#include "harness/experiment.hpp"
#include "sources/one_to_one.hpp"
#include "sources/processors.hpp"
#include "sources/transfer.hpp"

namespace {

using namespace heapwise::bench;
using namespace concurrency;

using number = message<sizeof(std::uint64_t)>;
constexpr std::size_t capacity = 1024;

template <template <class, std::size_t> class Queue>
void measure(cell& the_cell) {
  const processors where{the_cell, 2};
  const transfer_plan plan{patience::apart, static_cast<int>(the_cell.integer("backoff"))};
  const auto queue = std::make_unique<Queue<number, capacity>>();
  transfer_pair<number> pair{the_cell.size("batch")};
  the_cell.each_repeat([&](sample& the_sample) {
    const transfer_result done = pair.run(the_cell, the_sample, where, plan, *queue);
    the_sample.set("throughput", millions_per_second(done.messages, done.elapsed_ns));
  });
}

struct of_numbers {
  template <template <class, std::size_t> class Queue>
  static void run(cell& the_cell) {
    measure<Queue>(the_cell);
  }
};

std::vector<subject> subjects() {
  std::vector<subject> all = one_to_one_queues<of_numbers>();
#if defined(HEAPWISE_HAS_TBB)
  all.push_back(
      {"tbb_bounded", "oneTBB concurrent_bounded_queue, one by one", measure<tbb_bounded_queue>});
#else
  all.push_back({"tbb_bounded", "oneTBB concurrent_bounded_queue", nullptr, tbb_queue_missing});
#endif
  return all;
}

const experiment question{
    .id = "concurrency/queue",
    .question = "How many messages get from one thread to another through which queue?",
    .isolates =
        "The queue: one producer, one consumer, each on a core of its own, numbers of 8 bytes, "
        "room for 1024. The producer is always faster or slower than the consumer by a little, so "
        "that the queue is mostly full or empty; what is done then is the backoff.",
    .not_shown =
        "How long a message is on its way (a full queue has a long one), several producers or "
        "consumers (concurrency/mpsc_mpmc), larger messages (concurrency/queue_message_size). "
        "The mutex differs from process to process by a factor of up to three, however long it is "
        "measured; why is not known. Only large differences of it can be shown. Processor time "
        "does not help: both sides look again and again, so it is twice the elapsed time. Queues "
        "that take one message at a time gain nothing from a batch. concurrentqueue and "
        "tbb_bounded are made "
        "for many threads and pay for that here; moodycamel's two keep at least 1024 messages.",
    .parameters =
        {{"batch", "messages that are pushed and popped at once", {1, 8, 64}, {8}},
         {"backoff", "pauses of the processor after a push or pop in vain", {0, 64}, {0}, "", 0},
         duration(40)},
    .quantities = {throughput("messages")},
    .subjects = subjects(),
    .baseline = "mutex",
    .expectations = {{.says = "one message at a time, the ring without a lock is faster",
                      .quantity = "throughput",
                      .subject = "spsc",
                      .over = "mutex",
                      .parameters = {{"batch", 1}},
                      .at_least = 1.0},
                     {.says = "a batch of 64 lets a mutex queue carry at least twice as much",
                      .quantity = "throughput",
                      .subject = "mutex",
                      .over = "mutex",
                      .parameters = {{"batch", 64}, {"backoff", 0}},
                      .over_parameters = {{"batch", 1}, {"backoff", 0}},
                      .at_least = 2.0}},
    .answers = {{.quantity = "throughput",
                 .subject = "spsc",
                 .over = "mutex",
                 .parameters = {{"batch", 8}, {"backoff", 0}}},
                {.quantity = "throughput",
                 .subject = "spsc",
                 .over = "mutex",
                 .parameters = {{"batch", 64}, {"backoff", 0}}}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
