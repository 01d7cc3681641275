// A block out and back at once, over and over: the second scenario of the published reports.
#include "sources/pairs.hpp"
#include "sources/subjects.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::size_t blocks_at_start = 1024;

template <class Source>
struct measure {
  static void run(cell& given) {
    const std::size_t count = given.size("iterations");
    given.each_repeat([&](sample& yields) {
      Source source{{.block_size = given.size("block_size"), .block_count = blocks_at_start}};
      escape(&source);
      source.deallocate(source.allocate()); // boost cuts its first chunk only now
      std::size_t served = 0;
      yields.time("alloc_free", count, [&] { served = pools::allocate_and_free(source, count); });
      given.check("work", served == count, "%zu pairs of %zu", served, count);
      if (pools::calls_malloc<Source>) given.expect_calls(count + 1);
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
        "op is one pair. One byte of the block is written in each pair, as in the published "
        "reports. "
        "What allocators do "
        "once, at their first allocation, is done before. What is a template is inlined into the "
        "loop, what comes from a library is called: "
        "that is part of the answer.",
    .parameters = {{"iterations", "pairs in the timed region", {1'000'000}, {2'000}},
                   {"block_size", "bytes of a block", {64}, {64}, "bytes", 8}},
    .quantities = {{"alloc_free", "ns/op", better::lower,
                    "one op is a pair: one allocation, one byte written, one free"}},
    .subjects = pools::for_one_thread<measure>(),
    .baseline = "malloc@glibc",
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
