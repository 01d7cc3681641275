// Larger messages, one at a time and in batches: what does the queue still matter?
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

constexpr std::size_t capacity = 256;

template <template <class, std::size_t> class Queue, std::size_t Bytes>
void measure_bytes(cell& the_cell) {
  const processors where{the_cell, 2};
  const transfer_plan plan{patience::apart, 0};
  const auto queue = std::make_unique<Queue<message<Bytes>, capacity>>();
  transfer_pair<message<Bytes>> pair{the_cell.size("batch")};
  the_cell.each_repeat([&](sample& the_sample) {
    const transfer_result done = pair.run(the_cell, the_sample, where, plan, *queue);
    constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
    const double per_second =
        1e9 * static_cast<double>(done.messages) / static_cast<double>(done.elapsed_ns);
    the_sample.set("throughput", per_second / 1e6);
    the_sample.set("bytes", per_second * static_cast<double>(Bytes) / gibibyte);
  });
}

template <template <class, std::size_t> class Queue>
void measure(cell& the_cell) {
  switch (the_cell.integer("payload")) {
    case 16:
      return measure_bytes<Queue, 16>(the_cell);
    case 64:
      return measure_bytes<Queue, 64>(the_cell);
    case 256:
      return measure_bytes<Queue, 256>(the_cell);
    case 1024:
      return measure_bytes<Queue, 1024>(the_cell);
    default:
      the_cell.refuse("payload", "the sizes that were compiled are 16, 64, 256 and 1024 bytes");
  }
}

struct of_messages {
  template <template <class, std::size_t> class Queue>
  static void run(cell& the_cell) {
    measure<Queue>(the_cell);
  }
};

const experiment question{
    .id = "concurrency/queue_message_size",
    .question = "How do the size of the messages and batches of them change what a queue carries?",
    .isolates =
        "Payload and batch: one producer writes every word of a message, one consumer reads every "
        "word, each on a core of its own; the queues hold 256 messages and copy them in and out.",
    .not_shown =
        "The mutex differs from process to process as in concurrency/queue, and both sides spin, "
        "so processor time says nothing more: what a batch gains there is "
        "mostly not told. Queues of pointers to messages, which need memory from "
        "somewhere "
        "(heap/cross_thread_free), and messages built in place in the queue. Writing, two copies "
        "and reading are in the figure: the larger the message, the less of it is the queue. A "
        "full queue of 1024-byte messages is 256 KiB, beyond the nearest cache; concurrentqueue "
        "and readerwriterqueue round their room up.",
    .parameters = {{"payload", "bytes of a message", {16, 64, 256, 1024}, {256}, "bytes"},
                   {"batch", "messages that are pushed and popped at once", {1, 8}, {8}},
                   duration(40)},
    .quantities = {throughput("messages"),
                   {"bytes", "GiB/s", better::higher, "what the messages carry", "throughput"},
                   processor_time},
    .subjects = one_to_one_queues<of_messages>(),
    .baseline = "mutex",
    .repeats = 9,
    .expectations = {{.says = "larger messages carry more bytes",
                      .quantity = "bytes",
                      .subject = "spsc",
                      .over = "spsc",
                      .parameters = {{"payload", 1024}},
                      .over_parameters = {{"payload", 16}},
                      .at_least = 1.0},
                     {.says = "batches help the mutex queue",
                      .quantity = "throughput",
                      .subject = "mutex",
                      .over = "mutex",
                      .parameters = {{"payload", 256}, {"batch", 8}},
                      .over_parameters = {{"payload", 256}, {"batch", 1}},
                      .at_least = 1.0}},
    .answers = {{.quantity = "throughput",
                 .subject = "spsc",
                 .parameters = {{"payload", 1024}, {"batch", 1}},
                 .over_parameters = {{"payload", 16}}},
                {.quantity = "throughput",
                 .subject = "spsc",
                 .parameters = {{"payload", 256}, {"batch", 8}},
                 .over_parameters = {{"batch", 1}}},
                {.quantity = "throughput",
                 .subject = "mutex",
                 .parameters = {{"payload", 256}, {"batch", 8}},
                 .over_parameters = {{"batch", 1}}}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
