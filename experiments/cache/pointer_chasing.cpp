// The same nodes, read in the order of their addresses or in no order, with and without waiting.
#include <algorithm>
#include <numeric>

#include "harness/experiment.hpp"
#include "harness/memory/paged_memory.hpp"
#include "harness/rate.hpp"
#include "sources/ring_of_lines.hpp"

namespace {

using namespace heapwise::bench;
using caches::line;

/// What the nodes hold adds up to this when each was read once.
std::uint64_t sum_of(std::uint64_t nodes) { return nodes * (nodes - 1) / 2; }

/// Follows the links once around. Returns what the nodes hold, added up.
[[gnu::noinline]] std::uint64_t follow(const line* first, std::size_t nodes) {
  std::uint64_t sum = 0;
  const line* at = first;
  for (std::size_t i = 0; i < nodes; ++i) {
    sum += at->value;
    at = at->next;
  }
  return at == first ? sum : 0;
}

/// Reads the nodes one after the other in memory; no load waits for another.
[[gnu::noinline]] std::uint64_t scan(const line* first, std::size_t nodes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < nodes; ++i) sum += first[i].value;
  return sum;
}

[[gnu::noinline]] std::uint64_t scan_nothing(const line*, std::size_t nodes) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < nodes; ++i) {
    sum += i;
    asm volatile("" : "+r"(sum));
  }
  return sum;
}

enum class order { of_addresses, random };

template <auto read, order links>
void measure(cell& the_cell) {
  const std::size_t nodes = the_cell.size("nodes");
  const paged_memory memory{nodes * sizeof(line), page_kind::small};
  const mapped_array<std::uint64_t> offsets{nodes};
  for (std::size_t i = 0; i < nodes; ++i) offsets[i] = i * sizeof(line);
  if (links == order::random) the_cell.random().shuffle(offsets.span());
  const caches::ring_of_lines ring{memory.data(), offsets.span()};
  const auto* const first = reinterpret_cast<const line*>(memory.data());
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint64_t sum = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(nodes, [&] { sum = read(first, nodes); });
    the_sample.set("nodes", millions_per_second(nodes, elapsed_ns));
    the_cell.check("work", sum == sum_of(nodes) && ring.size() == nodes,
                   "{} nodes read once each add up to {}, expected {}", nodes, sum, sum_of(nodes));
  });
}

using four_numbers [[gnu::vector_size(16)]] = std::uint32_t;

/// As latency-lab's scan: nothing but numbers side by side, four in an addition, four additions at
/// once.
[[gnu::noinline]] std::uint32_t scan_packed(const four_numbers* first, std::size_t vectors) {
  four_numbers sums[4] = {};
  for (std::size_t i = 0; i < vectors; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += first[i + k];
  }
  const four_numbers sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return sum[0] + sum[1] + sum[2] + sum[3];
}

void measure_packed(cell& the_cell) {
  constexpr std::size_t block = 16; // numbers that scan_packed reads in one turn
  const std::size_t numbers = the_cell.size("nodes") * block;
  const paged_memory memory{numbers * sizeof(std::uint32_t), page_kind::small};
  const std::span held{reinterpret_cast<std::uint32_t*>(memory.data()), numbers};
  for (std::uint32_t& each : held) each = static_cast<std::uint32_t>(the_cell.random().next());
  const std::uint32_t expected = std::accumulate(held.begin(), held.end(), std::uint32_t{0});
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint32_t sum = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(numbers, [&] {
      sum = scan_packed(reinterpret_cast<const four_numbers*>(memory.data()), numbers / 4);
    });
    the_sample.set("nodes", millions_per_second(numbers, elapsed_ns));
    the_cell.check("work", sum == expected, "{} numbers add up to {}, expected {}", numbers, sum,
                   expected);
  });
}

const experiment question{
    .id = "cache/pointer_chasing",
    .question = "How many nodes can be read in a second when each says where the next one lies?",
    .isolates =
        "Waiting. The same nodes, a cache line each, 64 MiB in all, each read once: scanned "
        "(loads do not wait for each other), linked in the order of addresses (they wait, but "
        "the prefetchers see it coming), linked at random (they wait for memory).",
    .not_shown =
        "Several chases at once, which hide each other's waiting (cpu/ilp), and sizes that fit "
        "into a cache (cache/levels). Pages are of 4 KiB, by request, so that a random node also "
        "misses the translation buffers (memory/tlb_pressure). latency-lab's three orders of "
        "magnitude compare different things: its scan adds up numbers that lie side by side, 16 "
        "to a line and several in one instruction, as packed_scan does; its chase reads one "
        "number in a line. From scan to random is what the order costs.",
    .parameters = {{"nodes", "of one cache line", {1 << 20}, {1 << 13}, "", 2}},
    .quantities = {{"nodes", "M/s", better::higher,
                    "millions of nodes read in a second; packed_scan: of numbers"},
                   processor_time},
    .subjects = {{"sequential", "linked in the order of addresses",
                  measure<follow, order::of_addresses>},
                 {"random", "linked at random", measure<follow, order::random>},
                 {"scan", "nodes read without following links", measure<scan, order::of_addresses>},
                 {"packed_scan", "4-byte numbers side by side, latency-lab's sequential",
                  measure_packed},
                 {"empty_loop", "the loop of scan without its load",
                  measure<scan_nothing, order::of_addresses>}},
    .baseline = "sequential",
    .repeats = 9,
    .expectations = {{.says = "random links cost at least five times what ordered ones do",
                      .quantity = "nodes",
                      .subject = "random",
                      .over = "sequential",
                      .at_most = 0.2},
                     {.says = "numbers side by side are read at least 50 times as fast",
                      .quantity = "nodes",
                      .subject = "packed_scan",
                      .over = "random",
                      .at_least = 50}},
    .answers = {{.quantity = "nodes", .subject = "random", .over = "sequential"},
                {.quantity = "nodes", .subject = "scan", .over = "sequential"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
