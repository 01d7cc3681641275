// Blocks that one thread allocates and another frees: a pipeline over one shared pool.
//
// build: with_sanitizers
#include <atomic>
#include <thread>

#include "harness/memory/mapped_array.hpp"
#include "kernel/ticks.hpp"
#include "sources/subjects.hpp"
#include "workload/block_use.hpp"
#include "workload/parcel_ring.hpp"
#include "workload/ring_shape.hpp"

namespace {

using namespace heapwise::bench;

/// Blocks that the caches of a thread may keep without another thread's running dry.
constexpr std::size_t blocks_per_thread = 4096;

constexpr std::size_t batch = parcel_ring::batch;

/// What a thread did: how long its calls took, without what it waited for the others.
struct account {
  std::uint64_t sum = 0;
  std::uint64_t ticks = 0;
};

/// Fills the rings by turns, a batch at a time. Each block bears a number.
template <touching how, class Way, class Ring>
account produce(Way& way, std::span<Ring> rings, std::size_t blocks_each, std::size_t bytes) {
  account done;
  void* blocks[batch];
  for (std::size_t number = 0; number < blocks_each; number += batch) {
    for (Ring& ring : rings) {
      const std::uint64_t start = now_ticks();
      for (void*& block : blocks) {
        block = way.allocate();
        use_new<how>(block, bytes);
        escape(block);
      }
      done.ticks += now_ticks() - start;
      std::size_t next = 0;
      ring.put([&](parcel& into) {
        *static_cast<std::uint64_t*>(blocks[next]) = number + next;
        done.sum += number + next;
        into.block = blocks[next++];
      });
    }
  }
  return done;
}

/// Empties the rings as they fill.
template <touching how, class Way, class Ring>
account consume(Way& way, std::span<Ring> rings, std::size_t blocks_each, std::size_t bytes) {
  account done;
  void* taken[batch];
  for (std::size_t left = rings.size() * blocks_each; left != 0;) {
    bool took = false;
    for (Ring& ring : rings) {
      std::size_t next = 0;
      if (!ring.take([&](const parcel& from) {
            done.sum += *static_cast<std::uint64_t*>(from.block);
            taken[next++] = from.block;
          })) {
        continue;
      }
      const std::uint64_t start = now_ticks();
      for (void* const block : taken) {
        use_last<how>(block, bytes);
        way.deallocate(block);
        clobber();
      }
      done.ticks += now_ticks() - start;
      took = true;
      left -= batch;
    }
    if (!took) std::this_thread::yield();
  }
  return done;
}

template <class Source, class Ring, touching how, class Way>
void hand_over(cell& the_cell, Way way) {
  const ring_shape form = ring_shape::of(the_cell.text("shape"));
  const std::size_t bytes = the_cell.size("block_size");
  const std::size_t each = the_cell.size("blocks") / form.rings() / batch * batch;
  const std::size_t blocks = form.rings() * each;
  const mapped_array<Ring> rings{form.rings()};
  const auto threads = static_cast<std::size_t>(form.threads());
  Source source{
      {.block_size = bytes,
       .block_count = form.rings() * (Ring::capacity + batch) + threads * blocks_per_thread}};
  the_cell.each_repeat([&](sample& the_sample) {
    for (Ring& ring : rings) ring.restart();
    mapped_array<account> accounts{threads};
    const tick_scale learning;
    the_sample.time_team("block", form.threads(), blocks, [&](team_member& member) {
      const auto index = static_cast<std::size_t>(member.index());
      const ring_shape::part part = form.part_of(index);
      const auto mine = rings.span().subspan(part.first, part.rings());
      auto&& own = way(source);
      member.start();
      accounts[index] = part.produces ? produce<how>(own, mine, each, bytes)
                                      : consume<how>(own, mine, each, bytes);
      member.stop();
    });
    the_sample.set_processor_time(blocks);
    account producer_account;
    account freed;
    for (std::size_t i = 0; i < threads; ++i) {
      account& all = i < form.producers ? producer_account : freed;
      all.sum += accounts[i].sum;
      all.ticks += accounts[i].ticks;
    }
    const double ns_each = learning.ns_per_tick() / static_cast<double>(blocks);
    the_sample.set("alloc", ns_each * static_cast<double>(producer_account.ticks));
    the_sample.set("free", ns_each * static_cast<double>(freed.ticks));
    the_cell.check("work", producer_account.sum == freed.sum && producer_account.sum != 0,
                   "{} blocks with numbers that add up to {}, {} arrive", blocks,
                   producer_account.sum, freed.sum);
    if (pools::calls_malloc<Source>) the_cell.expect_calls(blocks);
  });
}

template <class Source, class Way>
void measure_with(cell& the_cell, Way way) {
  with_touching(the_cell, [&]<touching how> {
    if (the_cell.integer("on_the_way") == ring_of_parcels<1>::capacity) {
      return hand_over<Source, ring_of_parcels<1>, how>(the_cell, way);
    }
    if (the_cell.integer("on_the_way") != parcel_ring::capacity) {
      the_cell.refuse("on_the_way", "64 and 16384 are compiled in");
    }
    hand_over<Source, parcel_ring, how>(the_cell, way);
  });
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    measure_with<Source>(the_cell, [](Source& source) -> Source& { return source; });
  }
};

template <class Source>
struct measure_local {
  static void run(cell& the_cell) {
    measure_with<Source>(the_cell, [](Source& source) { return source.local_source(); });
  }
};

const experiment question{
    .id = "pool/producer_consumer",
    .question = "What does a block cost that one thread allocates and another one frees?",
    .isolates =
        "The way back of blocks through one shared pool. Producers take 64 blocks, use them and "
        "hand them over; consumers read and free them. alloc and free are the time in the calls "
        "and in the use of the blocks, without what a thread waits for the other side; block is "
        "wall time.",
    .not_shown =
        "Threads that do both. The rings are in block, a few ns, and so is the waiting for the "
        "slower side. With more threads than processors the figures also hold the scheduler, and "
        "alloc and free hold the time in which a thread was not running. A block's memory moves "
        "from one processor's cache to the other's: that is in the first use of a block, no matter "
        "who "
        "allocated it. The pool is made before the clock starts and stays for all repeats, the "
        "first "
        "of which is dropped. "
        "unsynchronized is missing: two threads may not share it.",
    .parameters = {{"blocks", "handed over in all", {600'000}, {6'000}, "", 3 * batch},
                   {"block_size", "bytes of a block", {64}, {64}, "bytes", 8},
                   touch_parameter({"write"}),
                   {"on_the_way", "blocks in each ring, at most", {64, 16'384}, {64, 16'384}},
                   {"shape",
                    "who sends to whom; many are three",
                    {"one_to_one", "one_to_many", "many_to_one"},
                    {"one_to_one", "one_to_many", "many_to_one"}}},
    .quantities = {{"block", "ns/op", better::lower,
                    "wall time over the blocks handed over: one allocation and one free each"},
                   {"alloc", "ns/op", better::lower, "one allocation and the use of the block"},
                   {"free", "ns/op", better::lower, "the last use of a block and its free"},
                   processor_time},
    .subjects = pools::for_many_threads<measure, measure_local>(),
    .baseline = "malloc@glibc",
    .repeats = 4,
    .answers = {{.quantity = "block",
                 .subject = "thread_cached",
                 .over = "mutex",
                 .parameters = {{"shape", "one_to_one"}}},
                {.quantity = "alloc",
                 .subject = "thread_cached",
                 .over = "mutex",
                 .parameters = {{"shape", "one_to_one"}}}},
    .work_parameters = {"touch", "shape"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
