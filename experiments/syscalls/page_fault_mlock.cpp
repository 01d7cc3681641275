// Memory written for the first time, present already, and locked.
//
// build: aligned_loops
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "harness/experiment.hpp"
#include "harness/rate.hpp"
#include "sources/mapping.hpp"
#include "sources/touch.hpp"

namespace {

using namespace syscalls;
using namespace heapwise::bench;

constexpr int passes = 16; // of an area in a timed region

/// Sets both quantities from the time of this many bytes.
void set_both(sample& the_sample, std::size_t bytes, std::uint64_t elapsed_ns) {
  the_sample.set(rate_name, gib_per_second(bytes, elapsed_ns));
  the_sample.set("page", static_cast<double>(elapsed_ns) / static_cast<double>(bytes / page_bytes));
}

std::int64_t faults() { return kernel_counts::now().minor_faults; }

/// The words hold what the last pass wrote, and as many pages as should came by faults.
void check(cell& the_cell, const mapping& area, word figure, std::int64_t faulted,
           bool faults_wanted, std::size_t pages) {
  const touching touched = touched_by(the_cell);
  const word must = figure * touched.count(area.bytes());
  const word is = touched.sum(area.words(), area.bytes());
  the_cell.check("work", is == must, "sum of the words {} of {}", is, must);
  const auto count = static_cast<std::size_t>(faulted);
  const bool ok = faults_wanted ? count >= pages : count < pages / 64 + 16;
  the_cell.check("faults", ok, "{} page faults for {} pages, {}", count, pages,
                 faults_wanted ? "one each wanted" : "none wanted");
}

std::size_t area_bytes(const cell& the_cell) { return whole_pages(the_cell.size("bytes")); }

void measure_first(cell& the_cell) {
  const touching touched = touched_by(the_cell);
  const std::size_t bytes = area_bytes(the_cell);
  the_cell.each_repeat([&](sample& the_sample) {
    std::vector<std::unique_ptr<mapping>> areas;
    for (int i = 0; i < passes; ++i) areas.push_back(std::make_unique<mapping>(bytes, MAP_PRIVATE));
    const auto figure = static_cast<word>(the_sample.repeat()) + 1;
    const std::int64_t before = faults();
    const std::uint64_t elapsed_ns = the_sample.measure(passes * bytes / page_bytes, [&] {
      for (const auto& area : areas) touched.write(area->words(), bytes, figure);
    });
    const std::int64_t faulted = faults() - before;
    set_both(the_sample, passes * bytes, elapsed_ns);
    check(the_cell, *areas.back(), figure, faulted, true, passes * bytes / page_bytes);
  });
}

void measure_present(cell& the_cell, const mapping& area) {
  const touching touched = touched_by(the_cell);
  the_cell.each_repeat([&](sample& the_sample) {
    const auto figure = static_cast<word>(the_sample.repeat()) + 1;
    const std::int64_t before = faults();
    const std::uint64_t elapsed_ns = the_sample.measure(passes * area.bytes() / page_bytes, [&] {
      for (int pass = 0; pass < passes; ++pass) {
        touched.write(area.words(), area.bytes(), figure);
        clobber();
      }
    });
    const std::int64_t faulted = faults() - before;
    set_both(the_sample, passes * area.bytes(), elapsed_ns);
    check(the_cell, area, figure, faulted, false, area.bytes() / page_bytes);
  });
}

void measure_prefaulted(cell& the_cell) {
  const mapping area{area_bytes(the_cell), MAP_PRIVATE};
  fill(area.words(), area.bytes(), 0);
  measure_present(the_cell, area);
}

/// Bytes that this process has locked, as the kernel says; 0 if it says nothing.
std::size_t locked_bytes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> status{std::fopen("/proc/self/status", "r"),
                                                               std::fclose};
  std::array<char, 256> line;
  std::size_t kib = 0;
  while (status && std::fgets(line.data(), line.size(), status.get()) != nullptr) {
    if (std::sscanf(line.data(), "VmLck: %zu kB", &kib) == 1) return kib << 10;
  }
  return 0;
}

void measure_locked(cell& the_cell) {
  const mapping area{area_bytes(the_cell), MAP_PRIVATE};
  const std::size_t before = locked_bytes();
  if (mlock(area.words(), area.bytes()) != 0) {
    the_cell.refuse("mlock",
                    "mlock was refused: more than the limit of locked memory (ulimit -l) allows");
  }
  const std::size_t locked = locked_bytes() - before;
  if (locked < area.bytes()) {
    the_cell.refuse("mlock", "mlock succeeded, but the kernel does not show the memory as locked");
  }
  the_cell.check("locked", true, "{} bytes locked of {}, as /proc/self/status has it", locked,
                 area.bytes());
  measure_present(the_cell, area);
}

/// As the report latency-lab has them: the clock has one pass and the taking down of the area. If
/// the pass is the first one, it has its making, too.
enum class before { nothing, writing, locking };

template <before prepared>
void measure_life(cell& the_cell) {
  const touching touched = touched_by(the_cell);
  const std::size_t bytes = area_bytes(the_cell);
  const std::uint64_t pages = bytes / page_bytes;
  the_cell.each_repeat([&](sample& the_sample) {
    const auto figure = static_cast<word>(the_sample.repeat()) + 1;
    std::unique_ptr<mapping> area;
    const auto make = [&] { area = std::make_unique<mapping>(bytes, MAP_PRIVATE); };
    if constexpr (prepared != before::nothing) {
      make();
      if (prepared == before::locking && mlock(area->words(), bytes) != 0) {
        the_cell.refuse("mlock", "mlock was refused: more than ulimit -l allows");
      }
      fill(area->words(), bytes, 0);
    }
    std::uint64_t elapsed_ns = the_sample.measure(pages, [&] {
      if constexpr (prepared == before::nothing) make();
      touched.write(area->words(), bytes, figure);
    });
    const word is = touched.sum(area->words(), bytes);
    if (prepared == before::locking) munlock(area->words(), bytes);
    elapsed_ns += the_sample.measure(pages, [&] { area.reset(); });
    set_both(the_sample, bytes, elapsed_ns);
    the_cell.check("work", is == figure * touched.count(bytes), "sum of the words {}", is);
  });
}

/// The first pass over an area and the second, which finds the pages and what the kernel cleared
/// just now in the caches: what is left between them are the faults.
void measure_fault(cell& the_cell) {
  const std::size_t bytes = area_bytes(the_cell);
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint64_t first_ns = 0;
    std::uint64_t second_ns = 0;
    const auto figure = static_cast<word>(the_sample.repeat()) + 1;
    for (int i = 0; i < passes; ++i) {
      const mapping area{bytes, MAP_PRIVATE};
      const std::int64_t before = faults();
      const auto write = [&] { fill(area.words(), bytes, figure); };
      first_ns += the_sample.measure(bytes / page_bytes, write);
      const std::int64_t faulted = faults() - before;
      second_ns += the_sample.measure(bytes / page_bytes, write);
      check(the_cell, area, figure, faulted, true, bytes / page_bytes);
    }
    set_both(the_sample, passes * bytes, first_ns > second_ns ? first_ns - second_ns : 1);
  });
}

const experiment question{
    .id = "syscalls/page_fault_mlock",
    .question =
        "What does the first touch of a page cost, and does locking memory change the rest?",
    .isolates =
        "Every word of an area is written. First touch: the kernel finds and clears each page "
        "when it is written. Prefaulted: it was written before. Locked: the kernel promised that "
        "it stays, and shows it as locked. fault_alone is the first pass over an area less the "
        "second one.",
    .not_shown =
        "Memory pressure, which locking is for: without it, locked pages are written as fast as "
        "others. Huge pages (memory/tlb_pressure) and pages of files (syscalls/mapped_write). "
        "prefaulted and locked go over one area again and again, which the caches may hold; "
        "first_touch goes over new ones. latency-lab writes one byte of each page and counts "
        "the page (touch=pages), and its clock has the taking down of the area: those are the "
        "subjects `..._life`.",
    .parameters = {{"bytes", "of an area", {4 << 20}, {1 << 20}, "bytes"}, touch_parameter},
    .quantities = {{rate_name, "GiB/s", better::higher, "bytes written", "page"},
                   {"page", "ns/op", better::lower, "one op is a page of 4 KiB"},
                   processor_time},
    .subjects = {{"first_touch", "never touched before", measure_first},
                 {"prefaulted", "touched before", measure_prefaulted},
                 {"locked", "locked by mlock, as the kernel confirms", measure_locked},
                 {"first_touch_life", "made, written, taken down", measure_life<before::nothing>},
                 {"prefaulted_life", "written again and taken down", measure_life<before::writing>},
                 {"locked_life", "locked, written again, and taken down",
                  measure_life<before::locking>},
                 {"fault_alone", "first pass less second pass", measure_fault}},
    .baseline = "prefaulted",
    .expectations = {{.says = "a page fault costs between 0.1 and 5 microseconds",
                      .quantity = "page",
                      .subject = "fault_alone",
                      .at_least = 100,
                      .at_most = 5000},
                     {.says = "the first touch takes at least 1.5 times as long",
                      .quantity = "page",
                      .subject = "first_touch",
                      .over = "prefaulted",
                      .at_least = 1.5},
                     {.says = "without pressure locked memory is as fast as any",
                      .quantity = rate_name,
                      .subject = "locked",
                      .over = "prefaulted",
                      .at_least = 0.9,
                      .at_most = 1.1}},
    .answers = {{.quantity = "page", .subject = "first_touch", .over = "prefaulted"},
                {.quantity = "page", .subject = "locked", .over = "prefaulted"}},
    .yardsticks = {"fault_alone"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
