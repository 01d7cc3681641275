// Some blocks up, the same blocks down, again and again: what most programs do with a pool.
#include <span>

#include "harness/memory/mapped_array.hpp"
#include "sources/checks.hpp"
#include "sources/subjects.hpp"
#include "workload/block_use.hpp"

namespace {

using namespace heapwise::bench;

/// Takes a block for each place, uses it, and gives the blocks back in the order given.
template <touching how, class Source>
[[gnu::always_inline]] inline void up_and_down(Source& source, std::span<void*> held,
                                               std::span<const std::uint32_t> order,
                                               std::size_t bytes) {
  for (void*& block : held) {
    block = source.allocate();
    use_new<how>(block, bytes);
    escape(block);
  }
  for (const std::uint32_t place : order) {
    void* const block = held[place];
    use_last<how>(block, bytes);
    source.deallocate(block);
    clobber();
  }
}

/// The last taken goes first, or any.
void choose_order(std::span<std::uint32_t> order, bool shuffled, random_numbers& random) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::uint32_t>(order.size() - 1 - i);
  }
  if (shuffled) random.shuffle(order);
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const mapped_array<void*> held{the_cell.size("run")};
    const mapped_array<std::uint32_t> order{held.size()};
    choose_order(order.span(), the_cell.text("free_order") == "random", the_cell.random());
    with_touching(the_cell, [&]<touching how> { measure_runs<how>(the_cell, held, order); });
  }

  template <touching how>
  static void measure_runs(cell& the_cell, const mapped_array<void*>& held,
                           const mapped_array<std::uint32_t>& order) {
    const std::size_t bytes = the_cell.size("block_size");
    const std::size_t rounds = std::max<std::size_t>(1, the_cell.size("iterations") / held.size());
    const std::size_t pairs = rounds * held.size();
    Source source{{.block_size = bytes, .block_count = 4 * held.size()}};
    escape(&source);
    the_cell.each_repeat([&](sample& the_sample) {
      up_and_down<how>(source, held.span(), order.span(), bytes);
      the_sample.time("alloc_free", pairs, [&] {
        for (std::size_t round = 0; round < rounds; ++round) {
          up_and_down<how>(source, held.span(), order.span(), bytes);
        }
      });
      the_sample.set_processor_time(pairs);
      const std::size_t distinct = pools::count_served(the_cell, the_sample, held.span());
      the_cell.check("work", distinct == held.size(), "{} distinct blocks of {}", distinct,
                     held.size());
      if (pools::calls_malloc<Source>) the_cell.expect_calls(pairs + held.size());
    });
  }
};

const experiment question{
    .id = "pool/up_and_down",
    .question = "What does a block cost when a few are taken and given back, over and over?",
    .isolates =
        "The allocator's own work while everything stays in the nearest caches: a run of blocks is "
        "taken and used, then all of them are given back, the last one first or in one random "
        "order. The pool is made before the clock starts, and has seen one run.",
    .not_shown =
        "Cache misses (pool/bulk), one block at a time (pool/interleaved), other threads. The "
        "blocks of a long run of large ones leave the nearest cache: 1,000 of 256 bytes are "
        "250 KiB. With touch=all the use of the blocks is most of the figure, the same for all. "
        "What is a template is inlined into the loop, what comes from a library is called.",
    .parameters =
        {{"iterations", "blocks taken in the timed region, whole runs", {200'000}, {2'000}},
         {"run", "blocks up, then down", {8, 64, 1000}, {8, 64}},
         {"block_size", "bytes of a block", {16, 32, 64, 256}, {16, 64}, "bytes", 8},
         touch_parameter(),
         {"free_order",
          "reverse: the last taken goes first; random: any",
          {"reverse", "random"},
          {"reverse", "random"}}},
    .quantities = {{"alloc_free", "ns/op", better::lower,
                    "one op is one allocation, the use of the block, and its free"},
                   processor_time},
    .subjects = pools::for_one_thread<measure>(),
    .baseline = "malloc@glibc",
    .repeats = 5,
    .answers = {{.quantity = "alloc_free",
                 .subject = "unsynchronized",
                 .over = "boost_pool",
                 .parameters = {{"touch", "write"}, {"block_size", 64}}}},
    .yardsticks = {"bare_list"},
    .work_parameters = {"block_size", "touch"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
