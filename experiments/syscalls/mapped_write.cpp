// Writing to a file through a mapping: for the first time, again, shared, and down to the disk.
#include "harness/experiment.hpp"
#include "harness/rate.hpp"
#include "sources/mapping.hpp"
#include "sources/warm_file.hpp"

namespace {

using namespace syscalls;

/// Passes over what was written before are fast: as many of them make a region long enough.
constexpr int rewrites = 4;

word figure_of(const sample& yields, int pass) {
  return static_cast<word>(yields.repeat()) * 256 + static_cast<word>(pass) + 1;
}

struct written {
  word in_mapping;
  word in_file;
};

/// Each word of the mapping must hold `figure`; the file too if it is shared, else what it held.
void check(cell& given, const warm_file& file, const mapping& mapped, word figure, bool shared) {
  const word all = figure * (file.bytes() / sizeof(word));
  const written must{all, shared ? all : file.sum()};
  const written is{sum_of(mapped.words(), mapped.bytes()), file.read_sum()};
  given.check("work", is.in_mapping == must.in_mapping && is.in_file == must.in_file,
              "sums of the mapping %llu of %llu, of the file %llu of %llu",
              static_cast<unsigned long long>(is.in_mapping),
              static_cast<unsigned long long>(must.in_mapping),
              static_cast<unsigned long long>(is.in_file),
              static_cast<unsigned long long>(must.in_file));
}

template <int flags>
void measure_first(cell& given) {
  const warm_file file{given, whole_pages(given.size("bytes"))};
  given.each_repeat([&](sample& yields) {
    const mapping mapped{file.bytes(), flags, file.number()};
    const word figure = figure_of(yields, 0);
    const std::uint64_t elapsed_ns = yields.measure(
        file.bytes() / page_bytes, [&] { fill(mapped.words(), file.bytes(), figure); });
    yields.set(rate_name, gib_per_second(file.bytes(), elapsed_ns));
    check(given, file, mapped, figure, flags == MAP_SHARED);
  });
}

template <int flags>
void measure_again(cell& given) {
  const warm_file file{given, whole_pages(given.size("bytes"))};
  const mapping mapped{file.bytes(), flags, file.number()};
  fill(mapped.words(), file.bytes(), 1);
  given.each_repeat([&](sample& yields) {
    const std::uint64_t elapsed_ns = yields.measure(rewrites * file.bytes() / page_bytes, [&] {
      for (int pass = 0; pass < rewrites; ++pass) {
        fill(mapped.words(), file.bytes(), figure_of(yields, pass));
        clobber();
      }
    });
    yields.set(rate_name, gib_per_second(rewrites * file.bytes(), elapsed_ns));
    check(given, file, mapped, figure_of(yields, rewrites - 1), flags == MAP_SHARED);
  });
}

void measure_synchronized(cell& given) {
  const warm_file file{given, whole_pages(given.size("bytes"))};
  const mapping mapped{file.bytes(), MAP_SHARED, file.number()};
  given.each_repeat([&](sample& yields) {
    const word figure = figure_of(yields, 0);
    bool synchronized = false;
    const std::uint64_t elapsed_ns = yields.measure(file.bytes() / page_bytes, [&] {
      fill(mapped.words(), file.bytes(), figure);
      synchronized = msync(mapped.words(), file.bytes(), MS_SYNC) == 0;
    });
    yields.set(rate_name, gib_per_second(file.bytes(), elapsed_ns));
    given.check("msync", synchronized, "the kernel %s", synchronized ? "did it" : "refused");
    check(given, file, mapped, figure, true);
  });
}

seed_figure of_seed(const char* subject, double figure) {
  return {subject, rate_name, {}, figure, "GiB/s", "Apple Silicon, 8 cores (seed 002)"};
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
        "disk does: its figures scatter more than the others. It also marks each page anew, since "
        "msync makes them clean. The seed's msync, at 12 GiB/s, cannot have waited for a disk.",
    .parameters = {{"bytes", "of the file", {16 << 20}, {1 << 20}, "bytes"}},
    .quantities = {{rate_name, "GiB/s", better::higher, "bytes written"}},
    .subjects = {{"private_first_touch", "private, first write", measure_first<MAP_PRIVATE>},
                 {"private_rewrite", "private, written before", measure_again<MAP_PRIVATE>},
                 {"shared_first_touch", "shared, first write", measure_first<MAP_SHARED>},
                 {"shared_rewrite", "shared, written before", measure_again<MAP_SHARED>},
                 {"shared_msync", "shared, written and synchronized", measure_synchronized}},
    .baseline = "private_rewrite",
    .seed = "002_6e019959cd8b368d.txt",
    .seed_figures = {of_seed("private_first_touch", 7.27), of_seed("private_rewrite", 48.5),
                     of_seed("shared_rewrite", 26.2), of_seed("shared_msync", 11.9)},
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
