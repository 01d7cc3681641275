// Allocated here, freed there: what queues, actors and pipelines do to an allocator.
#include "harness/memory/mapped_array.hpp"
#include "sources/quantities.hpp"
#include "sources/request_sizes.hpp"
#include "sources/sources.hpp"
#include "workload/parcel_ring.hpp"
#include "workload/ring_shape.hpp"

namespace {

using namespace heapwise::bench;
using ring = parcel_ring;

/// Fills rings `first` to `last` by turns; returns the sum of the bytes that it wrote.
template <class Source>
std::uint64_t produce(const mapped_array<ring>& rings, std::size_t first, std::size_t last,
                      std::size_t blocks_each, const heaps::request_sizes& sizes) {
  Source source;
  std::uint64_t sum = 0;
  std::size_t number = 0;
  const auto fill = [&](parcel& into) {
    const std::size_t bytes = sizes.of(number);
    const auto content = static_cast<unsigned char>(number++);
    into = {source.allocate(bytes), bytes};
    *static_cast<volatile unsigned char*>(into.block) = content;
    escape(into.block);
    sum += content;
  };
  for (std::size_t done = 0; done < blocks_each; done += ring::batch) {
    for (std::size_t i = first; i < last; ++i) rings[i].put(fill);
  }
  return sum;
}

/// Empties rings `first` to `last` as they fill; returns the sum of the bytes that it read.
template <class Source>
std::uint64_t consume(const mapped_array<ring>& rings, std::size_t first, std::size_t last,
                      std::size_t blocks_each) {
  Source source;
  std::uint64_t sum = 0;
  const auto use = [&](const parcel& from) {
    sum += *static_cast<volatile unsigned char*>(from.block);
    source.deallocate(from.block, from.bytes);
  };
  for (std::size_t left = (last - first) * blocks_each; left != 0;) {
    bool took = false;
    for (std::size_t i = first; i < last; ++i) {
      if (!rings[i].take(use)) continue;
      took = true;
      left -= ring::batch;
    }
    if (!took) std::this_thread::yield();
  }
  return sum;
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const ring_shape form = ring_shape::of(the_cell.text("shape"));
    const std::size_t blocks_each =
        the_cell.size("blocks") / form.rings() / ring::batch * ring::batch;
    const mapped_array<ring> rings{form.rings()};
    const heaps::request_sizes sizes{rl_small, the_cell.random()};
    resident_meter meter;
    the_cell.each_repeat([&](sample& the_sample) {
      for (ring& each : rings) each.restart();
      meter.restart_peak();
      one_repeat(the_cell, the_sample, form, blocks_each, rings, sizes);
      const double bound =
          static_cast<double>(form.rings() * (ring::capacity + ring::batch)) * sizes.mean_bytes();
      the_sample.set("resident_over_live", static_cast<double>(meter.peak()) / bound);
      heaps::set_peak(the_sample, meter);
    });
  }

  static void one_repeat(cell& the_cell, sample& the_sample, const ring_shape& form,
                         std::size_t blocks_each, const mapped_array<ring>& rings,
                         const heaps::request_sizes& sizes) {
    const std::size_t blocks = form.rings() * blocks_each;
    std::atomic<std::uint64_t> written{0};
    std::atomic<std::uint64_t> read{0};
    const std::uint64_t elapsed_ns =
        the_sample.measure_team(form.threads(), 2 * blocks, [&](team_member& member) {
          const auto [produces, first, last] =
              form.part_of(static_cast<std::size_t>(member.index()));
          member.start();
          if (produces) {
            written += produce<Source>(rings, first, last, blocks_each, sizes);
          } else {
            read += consume<Source>(rings, first, last, blocks_each);
          }
          member.stop();
        });
    the_sample.set("throughput", heaps::mops(2 * blocks, elapsed_ns));
    the_sample.set_processor_time(2 * blocks);
    the_cell.check("work", written == read && written != 0,
                   "{} blocks handed over, bytes written add up to {}, read to {}", blocks,
                   written.load(), read.load());
    the_cell.expect_calls(blocks);
  }
};

const experiment question{
    .id = "heap/cross_thread_free",
    .question = "What does it cost when another thread frees what this one allocated?",
    .isolates =
        "The way back of blocks to the thread or span they came from: sizes of rl_small, each "
        "block written by a producer, handed over in batches of 64, read and freed by a consumer.",
    .not_shown =
        "A consumer that allocates too. The rings' own cost (a few ns a block) and the waiting of "
        "the faster side are in the figure. With more than two threads on two processors it also "
        "holds the scheduler. resident_over_live is against the most that can be on the way, "
        "which is never quite reached: below 1 is possible.",
    .parameters = {{"blocks", "handed over in all", {1'500'000}, {60'000}, "", 3 * ring::batch},
                   {"shape",
                    "who sends to whom; many are three",
                    {"one_to_one", "many_to_one", "one_to_many"},
                    {"one_to_one", "many_to_one", "one_to_many"}}},
    .quantities = {{"throughput", "Mops/s", better::higher,
                    "allocations and frees, each counted as one, in a microsecond"},
                   processor_time,
                   {"resident_over_live", "x", better::lower,
                    "the peak of resident memory over what fits into the rings"},
                   heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 3,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
