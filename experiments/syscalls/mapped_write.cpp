// Writing to a file through a mapping: for the first time, again, shared, and down to the disk.
//
// build: aligned_loops
#include "harness/experiment.hpp"
#include "harness/rate.hpp"
#include "sources/mapping.hpp"
#include "sources/touch.hpp"
#include "sources/warm_file.hpp"

namespace {

using namespace syscalls;

/// Passes over what was written before are fast: as many of them make a region long enough.
constexpr int rewrites = 4;

word figure_of(const sample& the_sample, int pass) {
  return static_cast<word>(the_sample.repeat()) * 256 + static_cast<word>(pass) + 1;
}

struct written {
  word in_mapping;
  word in_file;
};

/// Each word of the mapping that is touched must hold `figure`; the file too if it is shared, else
/// what it held.
void check(cell& the_cell, const warm_file& file, const word* mapped, word figure, bool shared) {
  const touching touched = touched_by(the_cell);
  const word all = figure * touched.count(file.bytes());
  const written must{all, shared ? all : file.sum(touched)};
  const written is{mapped == nullptr ? all : touched.sum(mapped, file.bytes()),
                   file.read_sum(touched)};
  the_cell.check("work", is.in_mapping == must.in_mapping && is.in_file == must.in_file,
                 "sums of the mapping {} of {}, of the file {} of {}", is.in_mapping,
                 must.in_mapping, is.in_file, must.in_file);
}

template <int flags>
void measure_first(cell& the_cell) {
  const touching touched = touched_by(the_cell);
  const warm_file file{the_cell, whole_pages(the_cell.size("bytes"))};
  the_cell.each_repeat([&](sample& the_sample) {
    const mapping mapped{file.bytes(), flags, file.number()};
    const word figure = figure_of(the_sample, 0);
    const std::uint64_t elapsed_ns = the_sample.measure(
        file.bytes() / page_bytes, [&] { touched.write(mapped.words(), file.bytes(), figure); });
    the_sample.set(rate_name, gib_per_second(file.bytes(), elapsed_ns));
    check(the_cell, file, mapped.words(), figure, flags == MAP_SHARED);
  });
}

/// The mapping is made, written once and taken down, all inside the clock.
template <int flags, bool synchronized>
void measure_life(cell& the_cell) {
  const touching touched = touched_by(the_cell);
  const warm_file file{the_cell, whole_pages(the_cell.size("bytes"))};
  the_cell.each_repeat([&](sample& the_sample) {
    const word figure = figure_of(the_sample, 0);
    bool done = true;
    const std::uint64_t elapsed_ns = the_sample.measure(file.bytes() / page_bytes, [&] {
      const mapping mapped{file.bytes(), flags, file.number()};
      touched.write(mapped.words(), file.bytes(), figure);
      if (synchronized) done = msync(mapped.words(), file.bytes(), MS_SYNC) == 0;
    });
    the_sample.set(rate_name, gib_per_second(file.bytes(), elapsed_ns));
    the_cell.check("msync", done, "the kernel {}", done ? "did it" : "refused");
    check(the_cell, file, nullptr, figure, flags == MAP_SHARED);
  });
}

template <int flags>
void measure_again(cell& the_cell) {
  const touching touched = touched_by(the_cell);
  const warm_file file{the_cell, whole_pages(the_cell.size("bytes"))};
  const mapping mapped{file.bytes(), flags, file.number()};
  fill(mapped.words(), file.bytes(), 1);
  the_cell.each_repeat([&](sample& the_sample) {
    const std::uint64_t elapsed_ns = the_sample.measure(rewrites * file.bytes() / page_bytes, [&] {
      for (int pass = 0; pass < rewrites; ++pass) {
        touched.write(mapped.words(), file.bytes(), figure_of(the_sample, pass));
        clobber();
      }
    });
    the_sample.set(rate_name, gib_per_second(rewrites * file.bytes(), elapsed_ns));
    check(the_cell, file, mapped.words(), figure_of(the_sample, rewrites - 1), flags == MAP_SHARED);
  });
}

void measure_synchronized(cell& the_cell) {
  const touching touched = touched_by(the_cell);
  const warm_file file{the_cell, whole_pages(the_cell.size("bytes"))};
  const mapping mapped{file.bytes(), MAP_SHARED, file.number()};
  the_cell.each_repeat([&](sample& the_sample) {
    const word figure = figure_of(the_sample, 0);
    bool synchronized = false;
    const std::uint64_t elapsed_ns = the_sample.measure(file.bytes() / page_bytes, [&] {
      touched.write(mapped.words(), file.bytes(), figure);
      synchronized = msync(mapped.words(), file.bytes(), MS_SYNC) == 0;
    });
    the_sample.set(rate_name, gib_per_second(file.bytes(), elapsed_ns));
    the_cell.check("msync", synchronized, "the kernel {}", synchronized ? "did it" : "refused");
    check(the_cell, file, mapped.words(), figure, true);
  });
}

expectation at_most(const char* says, const char* subject, const char* over, double bound) {
  return {.says = says, .quantity = rate_name, .subject = subject, .over = over, .at_most = bound};
}

const experiment question{
    .id = "syscalls/mapped_write",
    .question = "What does writing through a mapping cost the first time, again, and to the disk?",
    .isolates =
        "Every word of a mapped file is written once in a pass; its pages were in memory before. "
        "Private: the first write copies each page. Shared: the first write marks each page as "
        "changed. msync waits until the file system says that they are written.",
    .not_shown =
        "A disk under load, and files that do not fit into memory. `shared_msync` has a disk in "
        "it, or memory where the folder for temporary files lies in memory, and whatever else the "
        "disk does: its figures scatter more than the others. It also marks each page again, since "
        "msync makes them clean. latency-lab writes one byte of each page and counts the page "
        "(touch=pages), and its clock has the making and the taking down of the mapping: those are "
        "the subjects `..._life`.",
    .parameters = {{"bytes", "of the file", {16 << 20}, {1 << 20}, "bytes"}, touch_parameter},
    .quantities = {{rate_name, "GiB/s", better::higher, "bytes of the pages written"},
                   processor_time},
    .subjects = {{"private_first_touch", "private, first write", measure_first<MAP_PRIVATE>},
                 {"private_rewrite", "private, written before", measure_again<MAP_PRIVATE>},
                 {"shared_first_touch", "shared, first write", measure_first<MAP_SHARED>},
                 {"shared_rewrite", "shared, written before", measure_again<MAP_SHARED>},
                 {"shared_msync", "shared, written and synchronized", measure_synchronized},
                 {"private_life", "private, mapped, written, unmapped",
                  measure_life<MAP_PRIVATE, false>},
                 {"shared_life", "shared, mapped, written, unmapped",
                  measure_life<MAP_SHARED, false>},
                 {"shared_life_msync", "shared, mapped, written, synchronized, unmapped",
                  measure_life<MAP_SHARED, true>}},
    .baseline = "private_rewrite",
    .expectations = {at_most("copying a page at its first write halves the speed or worse",
                             "private_first_touch", "private_rewrite", 0.5),
                     at_most("waiting for the file system halves the speed or worse",
                             "shared_msync", "shared_rewrite", 0.5)},
    .answers = {{.quantity = "throughput",
                 .subject = "private_first_touch",
                 .over = "private_rewrite"},
                {.quantity = "throughput", .subject = "shared_rewrite", .over = "private_rewrite"},
                {.quantity = "throughput", .subject = "shared_msync", .over = "shared_rewrite"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
