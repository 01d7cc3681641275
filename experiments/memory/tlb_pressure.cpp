// The same number of cache lines, on few pages or on one page each: what translating addresses
// costs.
//
// build: with_sanitizers
#include <numeric>
#include <span>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/memory/paged_memory.hpp"
#include "harness/rate.hpp"
#include "sources/throughput.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::size_t line_bytes = 64;
constexpr std::size_t step_bytes = 4096; ///< a page of the smallest kind there is
constexpr std::size_t step_lines = step_bytes / line_bytes;

/// What lies at each place: where the next one is, so that a walk must wait for each load.
struct place {
  std::uint64_t next;
};

/// Where line `number` lies when each has a page of its own: at another place of each page, and at
/// random, since no rule uses all sets of a cache that scrambles addresses by a rule of its own.
std::uint64_t own_page(std::uint64_t number) {
  return number * step_bytes + random_numbers{number}.below(step_lines) * line_bytes;
}

/// The first line of a page of its own.
std::uint64_t head_of_page(std::uint64_t number) { return number * step_bytes; }

std::uint64_t side_by_side(std::uint64_t number) { return number * line_bytes; }

/// Reads what lies at each offset, in their order; no load waits for another.
[[gnu::noinline]] std::uint64_t visit(const std::byte* memory,
                                      std::span<const std::uint64_t> offsets) {
  std::uint64_t sum = 0;
  for (const std::uint64_t offset : offsets) {
    sum += reinterpret_cast<const place*>(memory + offset)->next;
  }
  return sum;
}

/// The loop of `visit` without its load.
[[gnu::noinline]] std::uint64_t visit_nothing(const std::byte*,
                                              std::span<const std::uint64_t> offsets) {
  std::uint64_t sum = 0;
  for (const std::uint64_t offset : offsets) {
    sum += offset;
    asm volatile("" : "+r"(sum));
  }
  return sum;
}

/// Follows the places `steps` times from `first`; returns the offset that it ends at.
[[gnu::noinline]] std::uint64_t follow(const std::byte* memory, std::uint64_t first,
                                       std::size_t steps) {
  std::uint64_t at = first;
  for (std::size_t i = 0; i < steps; ++i) {
    at = reinterpret_cast<const place*>(memory + at)->next;
  }
  return at;
}

/// The loop of `follow` without its load: it arrives where it began.
[[gnu::noinline]] std::uint64_t follow_nothing(const std::byte*, std::uint64_t first,
                                               std::size_t steps) {
  std::uint64_t at = first;
  for (std::size_t i = 0; i < steps; ++i) asm volatile("" : "+r"(at));
  return at;
}

/// Each place names the next one, the last one the first.
void link(std::byte* memory, std::span<const std::uint64_t> offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    ::new (memory + offsets[i]) place{offsets[(i + 1) % offsets.size()]};
  }
}

enum class order { of_addresses, random };

template <auto place_of, order chosen, bool loads = true>
void measure(cell& the_cell) {
  const std::size_t lines = the_cell.size("lines");
  const std::size_t rounds = the_cell.size("rounds");
  const std::size_t count = rounds * lines;
  const page_kind kind = the_cell.text("pages") == "huge" ? page_kind::huge : page_kind::small;
  const paged_memory memory{lines * step_bytes, kind};
  const mapped_array<std::uint64_t> offsets{lines};
  for (std::size_t i = 0; i < lines; ++i) offsets[i] = place_of(i);
  if (chosen == order::random) the_cell.random().shuffle(offsets.span());
  link(memory.data(), offsets.span());
  const std::uint64_t expected =
      rounds * std::accumulate(offsets.begin(), offsets.end(), std::uint64_t{0});
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint64_t sum = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(count, [&] {
      for (std::size_t i = 0; i < rounds; ++i) {
        sum += (loads ? visit : visit_nothing)(memory.data(), offsets.span());
        clobber();
      }
    });
    the_sample.set("loads", millions_per_second(count, elapsed_ns));
    const std::uint64_t loads_ns = the_sample.processor_ns();
    std::uint64_t end = 0;
    const std::size_t steps = count - 1; // the last place, not the first again
    the_sample.time("latency", steps, [&] {
      end = (loads ? follow : follow_nothing)(memory.data(), offsets[0], steps);
    });
    the_sample.set("processor_time", static_cast<double>(loads_ns) / static_cast<double>(count));
    const bool arrived = end == (loads ? offsets[lines - 1] : offsets[0]);
    the_cell.check("work", sum == expected && arrived,
                   "{} loads add up to {}, expected {}; the walk ends at {}", count, sum, expected,
                   end);
  });
}

const experiment question{
    .id = "memory/tlb_pressure",
    .question = "What does it cost when each access goes to another page?",
    .isolates =
        "The translation of addresses. Every subject reads 8192 cache lines, 512 KiB, over and "
        "over; they differ in where these lie: side by side on 128 pages of 4 KiB (contiguous, "
        "random_near), or each 4 KiB from the next, 32 MiB apart in all (page_stride, random). "
        "random against random_near is the translation alone: both orders are random, both read "
        "the same number of lines, and neither favours a set of the caches. On huge pages, "
        "confirmed by smaps or refused, all of it takes 16 translations.",
    .not_shown =
        "Caches that miss (cache/levels), and how long a translation lasts when the tables "
        "themselves are not in a cache: with 8192 pages they are. Where the machine is virtual, "
        "each step of a page walk is translated again, so a miss costs more than on bare metal; "
        "and "
        "if its host keeps its memory on 4 KiB pages, the processor translates 4 KiB at a time "
        "whatever the guest has, and huge pages only shorten the walk: random stays above "
        "random_near then. "
        "page_stride has a fixed step, which some prefetchers follow across pages. Physical "
        "pages of 4 KiB lie where the kernel found them, so that a second-level cache may be "
        "used less evenly than on huge pages. In latency-lab the contiguous walk adds up "
        "the first number of each of 32768 pages in order: here that is page_heads with 32768 "
        "lines, which lie in one set of a cache that is indexed by the low bits of addresses. Its "
        "other two walks follow a chain of page numbers that stays in a cache, and so do not wait "
        "for the pages. Its machine has pages of 16 KiB.",
    .parameters = {{"pages", "their size", {"4k", "huge"}, {"4k", "huge"}},
                   {"lines", "read in a round", {8192}, {8192}, "", 2},
                   {"rounds", "in the timed region", {160}, {2}}},
    .quantities = {{"loads", "M/s", better::higher,
                    "millions of loads in a second, none of which waits for another"},
                   {"latency", "ns", better::lower,
                    "from one load to the next, when each waits for the one before"},
                   processor_time},
    .subjects =
        {{"contiguous", "line after line", measure<side_by_side, order::of_addresses>},
         {"random_near", "the same lines in random order", measure<side_by_side, order::random>},
         {"page_stride", "a line of each 4 KiB, in order", measure<own_page, order::of_addresses>},
         {"page_heads", "the first line of each 4 KiB, in order",
          measure<head_of_page, order::of_addresses>},
         {"random", "a line of each 4 KiB, in random order", measure<own_page, order::random>},
         {"empty_loop", "the same loops without their loads",
          measure<side_by_side, order::of_addresses, false>}},
    .baseline = "random_near",
    .repeats = 9,
    .expectations = {{.says = "a page for each line costs at least a third more on 4 KiB pages",
                      .quantity = "latency",
                      .subject = "random",
                      .over = "random_near",
                      .parameters = {{"pages", "4k"}},
                      .at_least = 1.33},
                     {.says = "huge pages take at least a tenth of the latency away",
                      .quantity = "latency",
                      .subject = "random",
                      .over = "random",
                      .parameters = {{"pages", "huge"}},
                      .over_parameters = {{"pages", "4k"}},
                      .at_most = 0.9}},
    .answers = {{.quantity = "latency",
                 .subject = "random",
                 .over = "random_near",
                 .parameters = {{"pages", "4k"}}},
                {.quantity = "latency",
                 .subject = "random",
                 .over = "random_near",
                 .parameters = {{"pages", "huge"}}}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
