// What a load costs that must wait for the one before it, by how much memory is walked through.
#include <algorithm>
#include <array>
#include <cstdio>

#include "harness/experiment.hpp"
#include "harness/memory/paged_memory.hpp"
#include "harness/rate.hpp"
#include "sources/reported_caches.hpp"
#include "sources/timed_walk.hpp"

namespace {

using namespace heapwise::bench;

template <page_kind pages, caches::walker goes>
void measure(cell& the_cell) {
  constexpr bool moves = goes == caches::walk;
  const std::size_t lines = moves ? the_cell.size("size") / caches::line_bytes : 2;
  const paged_memory memory{lines * caches::line_bytes, pages};
  const mapped_array<std::uint64_t> offsets{lines};
  for (std::size_t i = 0; i < lines; ++i) offsets[i] = i * caches::line_bytes;
  the_cell.random().shuffle(offsets.span());
  const caches::ring_of_lines ring{memory.data(), offsets.span()};
  const std::uint64_t region_ns = the_cell.size("region") * 1'000'000;
  const std::size_t steps = caches::steps_that_take(region_ns, goes, ring.place(0));
  caches::time_walks(
      the_cell, ring, goes, moves, steps, [&](sample& the_sample, std::uint64_t elapsed_ns) {
        the_sample.set("loads", millions_per_second(steps, elapsed_ns));
        the_sample.set("latency", static_cast<double>(elapsed_ns) / static_cast<double>(steps));
      });
}

/// Sizes that tell where a level ends. Its knee is where a load takes `at_knee` times as long as on
/// the level's plateau, which begins at twice the size of the level before: half way to the next
/// level if that is four times as slow, as levels are.
constexpr double at_knee = 2.5;

struct around {
  std::int64_t plateau;
  std::int64_t inside;  ///< three quarters of the level
  std::int64_t outside; ///< five quarters of it
};

constexpr std::int64_t least_bytes = 4 << 10;
constexpr std::int64_t most_bytes = 128 << 20;

std::vector<around> edges() {
  std::vector<around> all;
  std::int64_t plateau = least_bytes;
  for (const auto& each : caches::reported_data_caches()) {
    const auto quarter = static_cast<std::int64_t>(each.bytes / 4);
    all.push_back({plateau, 3 * quarter, 5 * quarter});
    plateau = 8 * quarter;
  }
  return all;
}

/// Powers of two, and those around each cache that this machine reports.
std::vector<value> sizes() {
  std::vector<std::int64_t> all;
  for (std::int64_t bytes = least_bytes; bytes <= most_bytes; bytes *= 2) all.push_back(bytes);
  for (const around& each : edges()) {
    all.insert(all.end(), {each.plateau, each.inside, each.outside});
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  return {all.begin(), repeated.begin()};
}

/// Text that lives as long as the process.
template <class... Arguments>
std::string_view written(const char* format, Arguments... arguments) {
  static std::array<std::array<char, 120>, 16> texts;
  static std::size_t next = 0;
  auto& text = texts.at(next++);
  std::snprintf(text.data(), text.size(), format, arguments...);
  return text.data();
}

expectation knee(std::string_view says, std::int64_t size, std::int64_t plateau) {
  return {.says = says,
          .quantity = "latency",
          .subject = "huge_pages",
          .over = "huge_pages",
          .parameters = {{"size", size}},
          .over_parameters = {{"size", plateau}}};
}

std::vector<expectation> knees() {
  std::vector<expectation> all;
  const auto reported = caches::reported_data_caches();
  const auto edges_of = edges();
  for (std::size_t i = 0; i < reported.size(); ++i) {
    const auto kib = static_cast<unsigned long>(reported[i].bytes >> 10);
    const auto [plateau, inside, outside] = edges_of[i];
    all.push_back(knee(written("the knee of level %d (%lu KiB) is above three quarters of its size",
                               reported[i].level, kib),
                       inside, plateau));
    all.back().at_most = at_knee;
    all.push_back(knee(written("the knee of level %d (%lu KiB) is below five quarters of its size",
                               reported[i].level, kib),
                       outside, plateau));
    all.back().at_least = at_knee;
  }
  return all;
}

const experiment question{
    .id = "cache/levels",
    .question = "What does a load cost when the memory in use grows out of each cache?",
    .isolates =
        "The latency of each level: a walk through all cache lines of the memory in random order, "
        "each load at the address that the one before it brought. On huge pages (as smaps "
        "confirms), so that translation is not part of it; on 4 KiB pages beside them, as programs "
        "have them. Besides powers of two: three quarters and five quarters of every cache that "
        "the system reports. The knee of a level is where a load takes 2.5 times as long as at "
        "twice the size of the level before it (the first: at 4 KiB).",
    .not_shown =
        "Bandwidth, and loads that do not wait for each other. A guest's huge pages do not spare "
        "translation if its host has small ones (memory/tlb_pressure shows whether). On 4 KiB "
        "pages the misses of the translation buffers are in it, and a cache that is indexed by "
        "physical addresses is full in some places before it is full in others. A level that "
        "another thread of the core, other processors or other machines on the same host use too "
        "ends earlier than its reported size; what a virtual machine reports need not be what it "
        "has. The report latency-lab does not say what it walks through, nor on what pages; its "
        "machine has "
        "pages of 16 KiB and lines of 128 bytes.",
    .parameters = {{"size",
                    "memory that is walked through",
                    sizes(),
                    {least_bytes, 256 << 10},
                    "bytes",
                    least_bytes},
                   {"region", "that a timed region is made to last", {5}, {1}, "ms"}},
    .quantities = {{"latency", "ns", better::lower, "from one load to the next"},
                   {"loads", "M/s", better::higher, "millions of loads in a second: its inverse",
                    "latency"},
                   processor_time},
    .subjects = {{"huge_pages", "on huge pages", measure<page_kind::huge, caches::walk>},
                 {"small_pages", "on 4 KiB pages", measure<page_kind::small, caches::walk>},
                 {"empty_loop", "the same loop without its load",
                  measure<page_kind::small, caches::walk_nowhere>}},
    .baseline = "huge_pages",
    .repeats = 8,
    .expectations = knees(),
    .answers = {{.quantity = "latency",
                 .subject = "small_pages",
                 .parameters = {{"size", 262144}},
                 .over_parameters = {{"size", 4096}}},
                {.quantity = "latency",
                 .subject = "small_pages",
                 .parameters = {{"size", 4194304}},
                 .over_parameters = {{"size", 4096}}},
                {.quantity = "latency",
                 .subject = "small_pages",
                 .parameters = {{"size", 67108864}},
                 .over_parameters = {{"size", 4096}}}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
