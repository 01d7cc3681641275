// Everything is freed, and then nothing happens: does the memory go back to the system?
#include <algorithm>
#include <chrono>
#include <thread>

#include "harness/memory/mapped_array.hpp"
#include "sources/marks.hpp"
#include "sources/quantities.hpp"
#include "sources/request_sizes.hpp"
#include "sources/sources.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::uint64_t mib = 1 << 20;

struct held {
  void* block;
  std::size_t bytes;
};

/// Takes a block and writes to it.
template <class Source>
held take(Source& source, std::size_t number, std::size_t bytes) {
  const held taken{source.allocate(bytes), bytes};
  heaps::mark(taken.block, bytes, heaps::mark_of(number));
  return taken;
}

/// Allocates until `full_bytes` are live; returns the number of blocks. The last is a large one:
/// an allocator that gives back the end of the heap must not depend on whether a small block
/// happens to lie there.
template <class Source>
std::size_t fill(Source& source, const mapped_array<held>& blocks,
                 const heaps::request_sizes& sizes, std::uint64_t full_bytes) {
  constexpr std::size_t last_bytes = 100'000;
  std::size_t count = 0;
  for (std::uint64_t live = 0; live < full_bytes && count + 1 < blocks.size(); ++count) {
    blocks[count] = take(source, count, sizes.of(count));
    live += blocks[count].bytes;
  }
  blocks[count] = take(source, count, last_bytes);
  return count + 1;
}

std::size_t count_whole(const mapped_array<held>& blocks, std::size_t count) {
  std::size_t whole = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool kept = heaps::is_marked(blocks[i].block, blocks[i].bytes, heaps::mark_of(i));
    whole += kept ? 1 : 0;
  }
  return whole;
}

/// What is resident after this many units of idling, as shares of `peak`; no call of malloc here.
void watch(cell& the_cell, sample& the_sample, resident_meter& meter, std::uint64_t peak) {
  constexpr std::pair<const char*, int> moments[] = {
      {"resident_0s", 0}, {"resident_1s", 1}, {"resident_2s", 2}, {"resident_5s", 5}};
  const std::chrono::milliseconds unit{the_cell.integer("second_ms")};
  const auto start = std::chrono::steady_clock::now();
  for (const auto& [quantity, units] : moments) {
    std::this_thread::sleep_until(start + units * unit);
    the_sample.set(quantity, heaps::ratio(meter.now(), peak));
  }
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const std::uint64_t full_bytes = the_cell.size("full_mib") * mib;
    const heaps::request_sizes sizes{small_and_medium, the_cell.random()};
    const auto expected = static_cast<double>(full_bytes) / sizes.mean_bytes();
    const mapped_array<held> blocks{static_cast<std::size_t>(1.1 * expected) + 1000};
    resident_meter meter;
    the_cell.each_repeat([&](sample& the_sample) {
      Source source;
      meter.restart_peak();
      std::size_t count = 0;
      the_sample.measure(1, [&] { count = fill(source, blocks, sizes, full_bytes); });
      const std::uint64_t peak = meter.now();
      const std::size_t whole = count_whole(blocks, count);
      if (the_cell.text("free_order") == "random") {
        the_cell.random().shuffle(blocks.span().first(count));
      }
      the_sample.measure(count, [&] {
        for (const held& each : blocks.span().first(count)) {
          source.deallocate(each.block, each.bytes);
        }
      });
      watch(the_cell, the_sample, meter, peak);
      heaps::set_peak(the_sample, meter);
      the_cell.check("work", whole == count && peak > full_bytes / 2,
                     "{} whole blocks of {}, {} MiB resident at the peak", whole, count,
                     peak / mib);
      the_cell.expect_calls(count);
    });
  }
};

const experiment question{
    .id = "heap/idle_purge",
    .question = "Does memory go back to the system when a program frees everything and idles?",
    .isolates =
        "Time alone: after the last free the process sleeps, and no call of malloc or free reminds "
        "the allocator of its debts.",
    .not_shown =
        "What giving back costs when the program wakes up again. Memory that the kernel may take "
        "when it needs it (MADV_FREE) counts as resident, as it does for everyone who looks. "
        "Allocators that give back at their next call, whenever that is, get no credit for it "
        "here. 0 s holds the milliseconds that counting resident pages takes. Threads that idle "
        "with caches of their own. An allocator that gives back only the end of its heap does so "
        "when blocks are freed in the order of allocation, and not in a random one "
        "(--set free_order=random).",
    .parameters = {{"full_mib", "requested bytes live at the peak", {256}, {16}, "MiB"},
                   {"free_order",
                    "allocation (the first taken goes first) or random",
                    {"allocation"},
                    {"allocation", "random"}},
                   {"second_ms", "how long a second of the quantities lasts", {1000}, {40}, "ms"}},
    .quantities = {{"resident_2s", "x", better::lower,
                    "resident after 2 s of idling, over what was at the peak"},
                   {"resident_0s", "x", better::lower, "at once"},
                   {"resident_1s", "x", better::lower, "after 1 s"},
                   {"resident_5s", "x", better::lower, "after 5 s"},
                   heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 1,
    .dropped_repeats = 0,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
