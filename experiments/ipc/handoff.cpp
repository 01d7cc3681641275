// A word handed over through a pipe, and through a mailbox in shared memory.
//
// build: aligned_loops, with_sanitizers
#include <unistd.h>

#include <atomic>

#include "harness/processes/descriptor.hpp"
#include "kernel/pause.hpp"
#include "sources/messages.hpp"

namespace {

using namespace ipc;

void measure_pipe(cell& the_cell) {
  int ends[2];
  if (pipe(ends) != 0) the_cell.refuse("pipe", "the kernel gives no pipe");
  const descriptor out{ends[0]};
  const descriptor in{ends[1]};
  measure_messages(
      the_cell,
      [&in](std::uint64_t i) {
        const std::uint64_t text = text_of(i);
        return write_all(in.number(), &text, sizeof text);
      },
      [&out] {
        std::uint64_t text = 0;
        return read_all(out.number(), &text, sizeof text) ? text : 0;
      });
}

/// Room for one word. The flag and the word share a line of the cache: it travels once for both.
struct mailbox {
  /// The thread that waits for long lets others run; at once, if there is only one processor.
  void wait_until(bool is_full) const noexcept {
    for (int left = looks; full.load(std::memory_order_acquire) != is_full; --left) {
      heapwise::bench::pause();
      if (left <= 0) sched_yield();
    }
  }

  void put(std::uint64_t text) noexcept {
    wait_until(false);
    word = text;
    full.store(true, std::memory_order_release); // with take's wait: the word is seen with it
  }

  std::uint64_t take() noexcept {
    wait_until(true);
    const std::uint64_t text = word;
    full.store(false, std::memory_order_release); // with put's wait: the word was read before
    return text;
  }

  alignas(64) std::atomic<bool> full{false};
  std::uint64_t word = 0;
  int looks = cpu_list::of_this_thread().size() > 1 ? 2000 : 0;
};

void measure_mailbox(cell& the_cell) {
  const shared_object<mailbox> box;
  measure_messages(
      the_cell,
      [&box](std::uint64_t i) {
        box->put(text_of(i));
        return true;
      },
      [&box] { return box->take(); });
}

/// One side puts and takes by itself: the instructions, without a partner to wait for.
void measure_alone(cell& the_cell) {
  const std::uint64_t count = 64 * the_cell.size("messages"); // or the clock would show
  const shared_object<mailbox> box;
  escape(&*box);
  measure_rate(the_cell, count, sum_of_texts(count), [&] {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      box->put(text_of(i));
      sum += box->take() ^ i;
    }
    return sum;
  });
}

const experiment question{
    .id = "ipc/handoff",
    .question = "What does it cost to hand a word to another thread or another process?",
    .isolates =
        "One word of 8 bytes after another, one way: a system call on each side, or two stores "
        "that the other side's loads wait for. Each side is kept on a processor of its own.",
    .not_shown =
        "Waiting without burning a processor: the mailbox spins, a pipe sleeps "
        "(concurrency/blocking_vs_spinning). A mailbox has room for one word, a pipe for "
        "thousands, so that a pipe's sender runs ahead: this is throughput, and the mailbox has "
        "a round trip for every word. Which processors share a cache decides the mailbox's "
        "figure. Threads share their table of files, so that the kernel counts who uses a pipe at "
        "every call; a process with one thread is spared that. mailbox_alone has the loop's and "
        "the mailbox's own instructions.",
    .parameters = {between, {"messages", "in the timed region", {100'000}, {1000}}},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one word handed over"}},
    .subjects = {{"pipe", "a pipe, 8 bytes at a time", measure_pipe},
                 {"mailbox", "a mailbox in shared memory, spinning", measure_mailbox},
                 {"mailbox_alone", "the same mailbox, filled and emptied by one side",
                  measure_alone}},
    .baseline = "pipe",
    .expectations = {{.says = "a spinning mailbox is faster than two system calls",
                      .quantity = rate_name,
                      .subject = "mailbox",
                      .over = "pipe",
                      .at_least = 1.5},
                     {.says = "memory does not mind whether processes or threads share it",
                      .quantity = rate_name,
                      .subject = "mailbox",
                      .over = "mailbox",
                      .parameters = {{"between", "processes"}},
                      .over_parameters = {{"between", "threads"}},
                      .at_least = 0.7,
                      .at_most = 1.4}},
    .answers = {{.quantity = "throughput", .subject = "mailbox", .over = "pipe"},
                {.quantity = "throughput",
                 .subject = "pipe",
                 .parameters = {{"between", "processes"}},
                 .over_parameters = {{"between", "threads"}}}},
    .yardsticks = {"mailbox_alone"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
