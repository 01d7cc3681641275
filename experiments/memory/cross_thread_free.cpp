// One thread allocates, another one frees: blocks of one size on their way through a ring.
//
// build: with_sanitizers
#include <atomic>
#include <optional>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/rate.hpp"
#include "heapwise/thread/lock_free.hpp"
#include "heapwise/thread/locked.hpp"
#include "heapwise/thread/thread_cached.hpp"
#include "sources/shared_sources.hpp"
#include "sources/throughput.hpp"
#include "workload/parcel_ring.hpp"

namespace {

using namespace heapwise::bench;

/// Fills the ring with `count` blocks that bear the numbers from 0 on.
template <class Way>
void produce(Way way, parcel_ring& ring, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t done = 0; done < count; done += parcel_ring::batch) {
    ring.put([&](parcel& into) {
      auto* const block = static_cast<std::uint64_t*>(way.allocate());
      *block = number++;
      escape(block);
      into.block = block;
    });
  }
}

/// Empties the ring; returns the sum of the numbers that the blocks bear.
template <class Way>
std::uint64_t consume(Way way, parcel_ring& ring, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t done = 0; done < count;) {
    const bool took = ring.take([&](const parcel& from) {
      sum += *static_cast<std::uint64_t*>(from.block);
      way.deallocate(from.block);
    });
    done += took ? parcel_ring::batch : 0;
    if (!took) std::this_thread::yield();
  }
  return sum;
}

/// A place for each block, and how many of them are filled.
struct slots {
  explicit slots(std::size_t count) : block{count} {}

  mapped_array<std::uint64_t*> block;
  alignas(64) std::atomic<std::size_t> filled{0};
};

template <class Way>
void fill_slots(Way way, slots& all) {
  for (std::size_t i = 0; i < all.block.size(); ++i) {
    auto* const block = static_cast<std::uint64_t*>(way.allocate());
    *block = i;
    escape(block);
    all.block[i] = block;
    // release pairs with the acquire in empty_slots: the slot and what lies in its block.
    all.filled.store(i + 1, std::memory_order_release);
  }
}

/// Returns the sum of the numbers that the blocks bear. It spins, as the report's consumer does.
template <class Way>
std::uint64_t empty_slots(Way way, slots& all) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < all.block.size(); ++i) {
    while (all.filled.load(std::memory_order_acquire) <= i) {
    }
    sum += *all.block[i];
    way.deallocate(all.block[i]);
  }
  return sum;
}

template <class Source>
void measure_slots(cell& the_cell) {
  const std::size_t count = the_cell.size("blocks");
  slots all{count};
  Source source{{.block_bytes = the_cell.size("block_size"), .thread_blocks = count, .threads = 2}};
  the_cell.each_repeat([&](sample& the_sample) {
    all.filled = 0;
    std::atomic<std::uint64_t> sum{0};
    const std::uint64_t elapsed_ns =
        the_sample.measure_team(2, 2 * count, [&](team_member& member) {
          auto way = source.local();
          member.start();
          if (member.index() == 0) {
            fill_slots(way, all);
          } else {
            sum = empty_slots(way, all);
          }
          member.stop();
        });
    the_sample.set("throughput", millions_per_second(2 * count, elapsed_ns));
    the_sample.set_processor_time(2 * count);
    const std::uint64_t expected = std::uint64_t{count} * (count - 1) / 2;
    the_cell.check("work", sum == expected, "{} blocks arrive with {}, expected {}", count,
                   sum.load(), expected);
  });
}

template <class Source>
void measure(cell& the_cell) {
  if (the_cell.text("travel") == "slots") return measure_slots<Source>(the_cell);
  const std::size_t count = the_cell.size("blocks") / parcel_ring::batch * parcel_ring::batch;
  const mapped_array<parcel_ring> ring{1};
  // What is in the ring, and what the caches of two threads keep.
  Source source{{.block_bytes = the_cell.size("block_size"),
                 .thread_blocks = 2 * parcel_ring::capacity,
                 .threads = 2}};
  the_cell.each_repeat([&](sample& the_sample) {
    ring[0].restart();
    std::atomic<std::uint64_t> sum{0};
    const std::uint64_t elapsed_ns =
        the_sample.measure_team(2, 2 * count, [&](team_member& member) {
          auto way = source.local();
          member.start();
          if (member.index() == 0) {
            produce(way, ring[0], count);
          } else {
            sum = consume(way, ring[0], count);
          }
          member.stop();
        });
    the_sample.set("throughput", millions_per_second(2 * count, elapsed_ns));
    the_sample.set_processor_time(2 * count);
    const std::uint64_t expected = std::uint64_t{count} * (count - 1) / 2;
    the_cell.check("work", sum == expected, "{} blocks arrive with {}, expected {}", count,
                   sum.load(), expected);
  });
}

/// As if blocks were made by nobody: the ring, the numbers and the waiting.
class blocks_there {
 public:
  explicit blocks_there(const memory::shared_demand& wanted) : blocks_{wanted} {}
  auto local() { return memory::by_reference{blocks_}; }

 private:
  class ring_of_blocks {
   public:
    explicit ring_of_blocks(const memory::shared_demand& wanted)
        : memory_{wanted.block_bytes * wanted.all_blocks()}, step_{wanted.block_bytes} {}
    void* allocate() {
      at_ = at_ + step_ == memory_.size() ? 0 : at_ + step_;
      return memory_.data() + at_;
    }
    void deallocate(void*) {}

   private:
    mapped_array<std::byte> memory_;
    std::size_t step_;
    std::size_t at_ = 0;
  };

  ring_of_blocks blocks_;
};

const experiment question{
    .id = "memory/cross_thread_free",
    .question = "What does an allocator make of blocks that another thread frees?",
    .isolates =
        "The way back to the thread, span or list that a block came from: blocks of one size, "
        "handed over in batches of 64 through a ring of 16384; the producer writes a number to "
        "each, the consumer reads it and frees the block. With travel=slots each block is handed "
        "over alone, through an array with a place for each of them. empty_loop is the ring and "
        "the numbers "
        "without any allocator.",
    .not_shown =
        "Mixed sizes, several producers or consumers, and other libraries under malloc "
        "(heap/cross_thread_free). The slower side sets the pace, and what the other waits is in "
        "throughput, which differs from process to process with the side that waits; "
        "processor_time is what the work itself takes of both. A thread-local list of free blocks "
        "is missing on purpose: the "
        "consumer's would fill and the producer's run dry. The synchronized pool of the C++ "
        "library here keeps pools "
        "for each thread; a block that another thread frees is looked for in those of all "
        "threads, under a lock that all must take. The report latency-lab hands over 200,000 "
        "blocks of 128 bytes one by one through slots, and counts an allocation and its free as "
        "one operation: that is travel=slots.",
    .parameters = {{"blocks",
                    "handed over, whole batches of 64",
                    {1'024'000},
                    {25'600},
                    "",
                    parcel_ring::batch},
                   {"block_size", "bytes of a block", {64}, {64}, "bytes", 8},
                   {"travel",
                    "ring: batches of 64 through a ring; slots: one by one, a place for each",
                    {"ring"},
                    {"ring"},
                    "",
                    1,
                    {"ring", "slots"}}},
    .quantities = {memory::throughput, processor_time},
    .subjects =
        {{"new", "operator new and delete", measure<memory::shared_new>},
         {"malloc", "malloc and free", measure<memory::shared_malloc>},
         {"locked", "a list of free blocks behind a std::mutex", measure<memory::shared_locked>},
         {"pmr_synchronized", "std::pmr::synchronized_pool_resource", measure<memory::shared_pmr>},
         {"pool_mutex", "heapwise::pool<locked>", measure<memory::shared_ours<heapwise::locked>>},
         {"pool_lock_free", "heapwise::pool<lock_free>",
          measure<memory::shared_ours<heapwise::lock_free>>},
         {"pool_thread_cached", "heapwise::pool<thread_cached>",
          measure<memory::shared_ours<heapwise::thread_cached>>},
         {"heap_inlined", "heapwise/heap.hpp, inlined", measure<memory::shared_heap>},
         {"empty_loop", "the ring alone, with blocks that are there", measure<blocks_there>}},
    .baseline = "new",
    .repeats = 8,
    .expectations = {{.says = "the ring alone is at least as fast as with new behind it",
                      .quantity = "throughput",
                      .subject = "empty_loop",
                      .over = "new",
                      .at_least = 1}},
    .answers = {{.quantity = "processor_time"}, {.quantity = "throughput"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
