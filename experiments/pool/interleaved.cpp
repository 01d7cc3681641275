// A block out and back at once, over and over: the second scenario of the published reports.
#include <atomic>
#include <thread>

#include "sources/pairs.hpp"
#include "sources/subjects.hpp"
#include "workload/block_use.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::size_t blocks_at_start = 1024;

/// A thread that sleeps for as long as this lives. With it the C library takes its locks by atomic
/// instructions, which it leaves out in a process of one thread.
class company {
 public:
  explicit company(bool wanted) {
    if (wanted) thread_ = std::thread{[this] { leave_.wait(false); }};
  }
  company(const company&) = delete;
  company& operator=(const company&) = delete;
  ~company() {
    leave_ = true;
    leave_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> leave_{false};
  std::thread thread_;
};

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const std::size_t count = the_cell.size("iterations");
    const std::size_t bytes = the_cell.size("block_size");
    const company another{the_cell.text("company") == "sleeping"};
    with_touching(the_cell, [&]<touching how> {
      the_cell.each_repeat([&](sample& the_sample) {
        Source source{{.block_size = bytes, .block_count = blocks_at_start}};
        escape(&source);
        source.deallocate(source.allocate()); // boost cuts its first chunk only now
        std::size_t served = 0;
        the_sample.time("alloc_free", count,
                        [&] { served = pools::allocate_and_free<how>(source, count, bytes); });
        the_sample.set_processor_time(count);
        the_cell.check("work", served == count, "{} pairs of {}", served, count);
        if (pools::calls_malloc<Source>) the_cell.expect_calls(count + 1);
      });
    });
  }
};

const experiment question{
    .id = "pool/interleaved",
    .question =
        "What does a pair of allocation and free cost when the same block comes back each time?",
    .isolates = "The shortest path of an allocator on one thread, everything in the nearest cache.",
    .not_shown =
        "Many blocks at once (pool/bulk), other threads (pool/concurrent), cache misses. One "
        "op is one pair. touch=write writes one byte of the block in each pair, as in the "
        "published reports. "
        "The C library leaves the atomic instructions of its locks out while a process has one "
        "thread: company=none shows a mutex as a program without threads pays for it, "
        "company=sleeping as one with threads does. How much that is depends on the processor. "
        "What allocators do "
        "once, at their first allocation, is done before. What is a template is inlined into the "
        "loop, what comes from a library is called: "
        "that is part of the answer.",
    .parameters = {{"iterations", "pairs in the timed region", {1'000'000}, {2'000}},
                   {"block_size", "bytes of a block", {64}, {64}, "bytes", 8},
                   touch_parameter(),
                   {"company",
                    "none, or sleeping: a second thread that waits for the end",
                    {"none", "sleeping"},
                    {"none", "sleeping"}}},
    .quantities = {{"alloc_free", "ns/op", better::lower,
                    "one op is a pair: one allocation, the use of the block, one free"},
                   processor_time},
    .subjects = pools::for_one_thread<measure>(),
    .baseline = "malloc@glibc",
    .answers = {{.quantity = "alloc_free",
                 .subject = "unsynchronized",
                 .over = "boost_pool",
                 .parameters = {{"touch", "write"}, {"company", "none"}}},
                {.quantity = "alloc_free",
                 .subject = "mutex",
                 .parameters = {{"touch", "write"}, {"company", "sleeping"}},
                 .over_parameters = {{"company", "none"}}}},
    .yardsticks = {"bare_list"},
    .work_parameters = {"touch"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
