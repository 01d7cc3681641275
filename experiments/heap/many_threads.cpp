// From two threads to more than most machines have processors: what contention does to malloc.
#include <atomic>
#include <string_view>

#include "sources/crowds.hpp"
#include "sources/exchange.hpp"
#include "sources/quantities.hpp"
#include "sources/sources.hpp"

namespace {

using namespace heapwise::bench;
using heaps::exchange;

/// The accounts of all threads in one.
class audit {
 public:
  void add(const exchange::account& one) noexcept {
    // Relaxed: the sums are read after the threads were joined.
    allocated_bytes_.fetch_add(one.allocated_bytes, std::memory_order_relaxed);
    freed_bytes_.fetch_add(one.freed_bytes, std::memory_order_relaxed);
    spoiled_.fetch_add(one.spoiled, std::memory_order_relaxed);
  }

  void state(cell& the_cell) const {
    const auto allocated = static_cast<unsigned long long>(allocated_bytes_.load());
    const auto freed = static_cast<unsigned long long>(freed_bytes_.load());
    const auto spoiled = static_cast<unsigned long long>(spoiled_.load());
    the_cell.check("work", allocated == freed && spoiled == 0 && allocated != 0,
                   "{} bytes allocated, {} freed, {} blocks spoiled", allocated, freed, spoiled);
  }

 private:
  std::atomic<std::uint64_t> allocated_bytes_{0};
  std::atomic<std::uint64_t> freed_bytes_{0};
  std::atomic<std::uint64_t> spoiled_{0};
};

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const std::size_t threads = the_cell.size("threads");
    const std::string_view work = the_cell.text("work");
    if (work == "bulk") return with(the_cell, heaps::bulk_crowd{threads});
    if (work == "pass_on") return with(the_cell, heaps::passing_crowd{threads});
    if (work == "buffers") return with(the_cell, heaps::buffers_crowd{threads});
    if (work == "short_threads") return with(the_cell, heaps::churning_crowd{threads});
    with(the_cell, exchange{threads, the_cell.random()});
  }

  template <class Crowd>
  static void with(cell& the_cell, Crowd crowd) {
    const std::size_t threads = the_cell.size("threads");
    const std::size_t operations = std::max<std::size_t>(1, the_cell.size("operations") / threads);
    resident_meter meter;
    the_cell.each_repeat([&](sample& the_sample) {
      meter.restart_peak();
      one_repeat(the_cell, the_sample, crowd, threads, operations);
      the_sample.set("resident_over_live", static_cast<double>(meter.peak()) / crowd.live_bytes());
      heaps::set_peak(the_sample, meter);
      the_cell.expect_calls(threads * operations + crowd.other_calls(operations));
    });
  }

  template <class Crowd>
  static void one_repeat(cell& the_cell, sample& the_sample, Crowd& crowd, std::size_t threads,
                         std::size_t operations) {
    audit all;
    the_sample.time_team("operation", static_cast<int>(threads), threads * operations,
                         [&](team_member& member) {
                           const auto index = static_cast<std::size_t>(member.index());
                           Source source;
                           exchange::account own;
                           crowd.fill(source, index, own);
                           member.start();
                           crowd.work(source, index, operations, own);
                           member.stop();
                           crowd.empty(source, index, own);
                           all.add(own);
                         });
    the_sample.set_processor_time(threads * operations);
    Source source;
    exchange::account left;
    crowd.clear_board(source, left);
    all.add(left);
    all.state(the_cell);
  }
};

const experiment question{
    .id = "heap/many_threads",
    .question = "What do malloc and free cost when many threads allocate and free at once?",
    .isolates =
        "Contention: each thread keeps 1024 blocks of 16 to 4096 bytes, one of 500 is a buffer of "
        "64 KiB, and replaces random ones. One block of eight changes hands over a board that all "
        "threads share, and is freed by another thread. After 500 operations a thread lets others "
        "run, as threads that serve requests do. Other works take one kind of contention apart: "
        "bulk "
        "allocates 4096 blocks of 64 bytes and then frees them; pass_on lets the next thread free "
        "the blocks; buffers replaces buffers of 64 KiB; short_threads starts a thread for each "
        "200 operations.",
    .not_shown =
        "What a machine with as many processors would show: with more threads than processors "
        "the figure holds the scheduler, and a lock is contended only if its holder is preempted. "
        "The exchange with the board, one atomic operation in eight steps, is in the figure, and "
        "so are reading one line of each block that is freed and one call of sched_yield in 500 "
        "operations. Threads fill their slots before the clock starts. With many threads the live "
        "blocks do not fit into the processor's caches, for any allocator. Resident memory holds "
        "the threads' stacks, the same for all.",
    .parameters = {{"threads", "threads at once", {2, 16, 64, 256}, {2, 16}},
                   {.name = "work",
                    .meaning = "what the threads do",
                    .defaults = {"mixed"},
                    .smoke = {"mixed"},
                    .choices = {"mixed", "bulk", "pass_on", "buffers", "short_threads"}},
                   {"operations", "of all threads together", {3'000'000}, {40'000}}},
    .quantities = {{"operation", "ns/op", better::lower,
                    "wall time over the operations of all threads: one malloc and one free each"},
                   processor_time,
                   {"resident_over_live", "x", better::lower,
                    "the peak of resident memory over what is live at once"},
                   heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 3,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
