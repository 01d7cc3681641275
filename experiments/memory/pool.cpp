// Pools of one block size, shared by threads or not: what the keeping apart of threads costs.
//
// build: with_sanitizers
#include <atomic>
#include <optional>
#include <span>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/rate.hpp"
#include "heapwise/thread/lock_free.hpp"
#include "heapwise/thread/locked.hpp"
#include "heapwise/thread/thread_cached.hpp"
#include "sources/shared_sources.hpp"
#include "sources/throughput.hpp"

namespace {

using namespace heapwise::bench;

/// Blocks that a thread holds at once.
constexpr std::size_t batch = 64;
/// Room for these and for what caches keep.
constexpr std::size_t thread_blocks = 4096;

/// Takes a batch of blocks, writes a number to each, reads it again, gives the block back; so often
/// that it makes `count` blocks. Returns the sum of the numbers read.
template <class Way>
std::uint64_t take_and_give(Way& way, std::size_t count, std::uint64_t first_number) {
  std::uint64_t* held[batch];
  std::uint64_t number = first_number;
  std::uint64_t sum = 0;
  for (std::size_t done = 0; done < count; done += batch) {
    for (auto*& block : held) {
      block = static_cast<std::uint64_t*>(way.allocate());
      *block = number++;
      escape(block);
    }
    for (auto* block : held) {
      sum += *block;
      way.deallocate(block);
      clobber();
    }
  }
  return sum;
}

/// Takes all `count` blocks first, and then gives all back, oldest first; `held` has room for them.
template <class Way>
std::uint64_t take_all_and_give_all(Way& way, std::span<std::uint64_t*> held,
                                    std::uint64_t first_number) {
  std::uint64_t number = first_number;
  for (auto*& block : held) {
    block = static_cast<std::uint64_t*>(way.allocate());
    *block = number++;
    escape(block);
  }
  std::uint64_t sum = 0;
  for (auto* block : held) {
    sum += *block;
    way.deallocate(block);
    clobber();
  }
  return sum;
}

/// The sum of `count` numbers from `first` on.
std::uint64_t sum_from(std::uint64_t first, std::uint64_t count) {
  return count * first + count * (count - 1) / 2;
}

/// Every block lives at once, and the pools are made inside the clock.
template <class Source>
void measure_all_at_once(cell& the_cell) {
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  const std::size_t count = the_cell.size("blocks") / batch * batch;
  const std::size_t blocks = count * static_cast<std::size_t>(threads);
  const mapped_array<std::uint64_t*> held{blocks};
  the_cell.each_repeat([&](sample& the_sample) {
    std::atomic<std::uint64_t> sum{0};
    std::optional<Source> source;
    const std::uint64_t making_ns = the_sample.measure(2 * blocks, [&] {
      source.emplace(memory::shared_demand{.block_bytes = the_cell.size("block_size"),
                                           .thread_blocks = count,
                                           .threads = static_cast<std::size_t>(threads)});
    });
    const std::uint64_t elapsed_ns =
        the_sample.measure_team(threads, 2 * blocks, [&](team_member& member) {
          const auto index = static_cast<std::size_t>(member.index());
          member.start();
          auto way = source->local();
          sum +=
              take_all_and_give_all(way, held.span().subspan(index * count, count), count * index);
          member.stop();
        });
    the_sample.set("throughput", millions_per_second(2 * blocks, making_ns + elapsed_ns));
    the_sample.set_processor_time(2 * blocks);
    const std::uint64_t expected = sum_from(0, blocks);
    the_cell.check("work", sum == expected, "{} blocks on {} threads read {}, expected {}", blocks,
                   threads, sum.load(), expected);
  });
}

template <class Source>
void measure(cell& the_cell) {
  if (the_cell.text("lives") == "all") return measure_all_at_once<Source>(the_cell);
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  const std::size_t count = the_cell.size("blocks") / batch * batch;
  const std::size_t blocks = count * static_cast<std::size_t>(threads);
  Source source{{.block_bytes = the_cell.size("block_size"),
                 .thread_blocks = thread_blocks,
                 .threads = static_cast<std::size_t>(threads)}};
  the_cell.each_repeat([&](sample& the_sample) {
    std::atomic<std::uint64_t> sum{0};
    const std::uint64_t elapsed_ns =
        the_sample.measure_team(threads, 2 * blocks, [&](team_member& member) {
          const std::uint64_t first = count * static_cast<std::uint64_t>(member.index());
          auto way = source.local();
          take_and_give(way, batch, 0);
          member.start();
          const std::uint64_t read = take_and_give(way, count, first);
          member.stop();
          sum += read;
        });
    the_sample.set("throughput", millions_per_second(2 * blocks, elapsed_ns));
    the_sample.set_processor_time(2 * blocks);
    const std::uint64_t expected = sum_from(0, blocks);
    the_cell.check("work", sum == expected, "{} blocks on {} threads read {}, expected {}", blocks,
                   threads, sum.load(), expected);
  });
}

const experiment question{
    .id = "memory/pool",
    .question = "What does a pool of one block size gain over new, and what do its locks lose?",
    .isolates =
        "How threads are kept apart. Each thread takes 64 blocks and gives them back, over and "
        "over, with no cache misses (lives=batch), or takes all blocks before it gives the first "
        "one back (lives=all, with the making of the pools inside the clock); a number is written "
        "to each and read again, so no two threads "
        "can have had the same block. locked and thread_local are the plain "
        "list of free blocks that everybody writes once, behind a std::mutex or one for each "
        "thread; the pools are Heapwise's under each policy.",
    .not_shown =
        "Blocks that another thread frees (memory/cross_thread_free). With more threads than "
        "processors the figures hold the scheduler: a thread that is stopped while it holds the "
        "lock stops all. The time is from the first start to the last stop. The report latency-lab "
        "has 4 threads, blocks of 128 bytes, takes 200,000 blocks on each thread before it gives "
        "any back, and makes its pools inside the clock: that is lives=all. It counts an "
        "allocation and its free as one operation. Other libraries' pools are in pool/concurrent.",
    .parameters =
        {{"threads", "threads at once", {1, 2, 4}, {1, 2}},
         {"block_size", "bytes of a block", {64}, {64}, "bytes", 8},
         {"blocks", "taken by each thread, whole batches of 64", {1'280'000}, {6'400}, "", batch},
         {"lives",
          "batch: a block is given back after 64 were taken; all: after all were taken",
          {"batch"},
          {"batch"},
          "",
          1,
          {"batch", "all"}}},
    .quantities = {memory::throughput, processor_time},
    .subjects = {{"new", "operator new and delete", measure<memory::shared_new>},
                 {"locked", "a list of free blocks behind a std::mutex",
                  measure<memory::shared_locked>},
                 {"thread_local", "a list of free blocks for each thread",
                  measure<memory::thread_local_pools>},
                 {"pool_mutex", "heapwise::pool<locked>",
                  measure<memory::shared_ours<heapwise::locked>>},
                 {"pool_lock_free", "heapwise::pool<lock_free>",
                  measure<memory::shared_ours<heapwise::lock_free>>},
                 {"pool_thread_cached", "heapwise::pool<thread_cached>",
                  measure<memory::shared_ours<heapwise::thread_cached>>},
                 {"pool_handle", "heapwise::pool<thread_cached>::local()",
                  measure<memory::shared_handles<heapwise::thread_cached>>},
                 {"heap_inlined", "heapwise/heap.hpp, inlined", measure<memory::shared_heap>},
                 {"empty_loop", "the same loop with blocks that are there",
                  measure<memory::shared_nothing>}},
    .baseline = "new",
    .repeats = 8,
    .expectations = {{.says = "a pool behind one lock is slower than a pool for each thread",
                      .quantity = "throughput",
                      .subject = "locked",
                      .over = "thread_local",
                      .at_most = 0.8}},
    .answers = {{.quantity = "throughput",
                 .subject = "pool_handle",
                 .over = "new",
                 .parameters = {{"threads", 1}}},
                {.quantity = "processor_time", .subject = "pool_mutex", .over = "pool_handle"},
                {.quantity = "processor_time", .subject = "locked", .over = "new"},
                {.quantity = "throughput", .subject = "pool_mutex", .over = "pool_handle"},
                {.quantity = "throughput", .subject = "pool_lock_free", .over = "pool_handle"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
