// What a load costs that must wait for the one before it, by how much memory is walked through.
#include <algorithm>
#include <array>
#include <cstdio>

#include "harness/experiment.hpp"
#include "harness/paged_memory.hpp"
#include "sources/reported_caches.hpp"
#include "sources/seed.hpp"
#include "sources/timed_walk.hpp"

namespace {

using namespace heapwise::bench;

template <page_kind pages, caches::walker goes>
void measure(cell& given) {
  const std::size_t lines = given.size("size") / caches::line_bytes;
  const paged_memory memory{lines * caches::line_bytes, pages};
  const mapped_array<std::uint64_t> offsets{lines};
  for (std::size_t i = 0; i < lines; ++i) offsets[i] = i * caches::line_bytes;
  given.random().shuffle(offsets.span());
  const caches::ring_of_lines ring{memory.data(), offsets.span()};
  const std::uint64_t region_ns = given.size("region") * 1'000'000;
  const std::size_t steps = caches::steps_that_take(region_ns, goes, ring.place(0));
  constexpr bool moves = goes == caches::walk;
  caches::time_walks(
      given, ring, goes, moves, steps, [&](sample& yields, std::uint64_t elapsed_ns) {
        yields.set("loads", caches::millions(steps, elapsed_ns));
        yields.set("latency", static_cast<double>(elapsed_ns) / static_cast<double>(steps));
      });
}

/// A cache's size and three around it: the knee is where the size says if the latency is still flat
/// from a half to three quarters of it, and has risen at five quarters.
struct around {
  explicit around(const caches::reported_cache& is)
      : half{static_cast<std::int64_t>(is.bytes / 2)},
        inside{half * 3 / 2},
        outside{half * 5 / 2} {}

  std::int64_t half;
  std::int64_t inside;
  std::int64_t outside;
};

/// Powers of two, and those around each cache that this machine reports.
std::vector<value> sizes() {
  constexpr std::int64_t least = 4 << 10;
  constexpr std::int64_t most = 128 << 20;
  std::vector<std::int64_t> all;
  for (std::int64_t bytes = least; bytes <= most; bytes *= 2) all.push_back(bytes);
  for (const auto& each : caches::reported_data_caches()) {
    const around edge{each};
    all.insert(all.end(), {edge.half, edge.inside, edge.outside});
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

std::vector<expectation> knees() {
  constexpr double flat = 1.25;
  constexpr double risen = 1.25;
  std::vector<expectation> all;
  for (const auto& each : caches::reported_data_caches()) {
    const around edge{each};
    const auto kib = static_cast<unsigned long>(each.bytes >> 10);
    all.push_back({.says = written("level %d of %lu KiB still holds three quarters of its size",
                                   each.level, kib),
                   .quantity = "latency",
                   .subject = "huge_pages",
                   .over = "huge_pages",
                   .parameters = {{"size", edge.inside}},
                   .over_parameters = {{"size", edge.half}},
                   .at_most = flat});
    all.push_back({.says = written("level %d of %lu KiB no longer holds five quarters of its size",
                                   each.level, kib),
                   .quantity = "latency",
                   .subject = "huge_pages",
                   .over = "huge_pages",
                   .parameters = {{"size", edge.outside}},
                   .over_parameters = {{"size", edge.inside}},
                   .at_least = risen});
  }
  return all;
}

seed_figure of_seed(std::int64_t size, double millions_per_second) {
  return {"small_pages",       "loads", {{"size", size}},
          millions_per_second, "M/s",   caches::seed_machine};
}

const experiment question{
    .id = "cache/levels",
    .question = "What does a load cost when the memory in use grows out of each cache?",
    .isolates =
        "The latency of each level: a walk through all cache lines of the memory in random order, "
        "each load at the address that the one before it brought. On huge pages (as smaps "
        "confirms), so that translation is no part of it; on 4 KiB pages beside them, as programs "
        "have them. Besides powers of two: a half, three quarters and five quarters of every "
        "cache that the system reports.",
    .not_shown =
        "Bandwidth, and loads that do not wait for each other. On 4 KiB pages the misses of the "
        "translation buffers are in it, and a cache that is indexed by physical addresses "
        "is full in some places before it is full in others. A last level that other "
        "processors, or other machines on the same host, use too ends earlier than its reported "
        "size; what a virtual machine reports need not be what it has. The seed does not say "
        "what it walks through, nor on what pages; its machine has pages of 16 KiB and lines of "
        "128 bytes.",
    .parameters =
        {{"size", "memory that is walked through", sizes(), {4 << 10, 256 << 10}, "bytes", 4 << 10},
         {"region", "that a timed region is made to last", {5}, {1}, "ms"}},
    .quantities = {{"latency", "ns", better::lower, "from one load to the next"},
                   {"loads", "M/s", better::higher, "millions of loads in a second: its inverse"}},
    .subjects = {{"huge_pages", "on huge pages", measure<page_kind::huge, caches::walk>},
                 {"small_pages", "on 4 KiB pages", measure<page_kind::small, caches::walk>},
                 {"empty_loop", "the same loop without its load",
                  measure<page_kind::small, caches::walk_nowhere>}},
    .baseline = "huge_pages",
    .repeats = 9,
    .seed = caches::seed,
    .seed_figures = {of_seed(4 << 10, 1010), of_seed(256 << 10, 280), of_seed(1 << 20, 206),
                     of_seed(16 << 20, 88), of_seed(64 << 20, 12.7)},
    .expectations = knees(),
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
