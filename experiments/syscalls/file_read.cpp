// A file that is in the page cache, read whole by read, pread, a mapping and io_uring.
//
// build: aligned_loops
// optional: URING = header liburing.h library uring
#include <unistd.h>

#include <span>

#include "harness/experiment.hpp"
#include "harness/rate.hpp"
#include "sources/mapping.hpp"
#include "sources/touch.hpp"
#include "sources/warm_file.hpp"

#if defined(HEAPWISE_HAS_URING)
#include "sources/ring_reader.hpp"
#endif

namespace {

using namespace syscalls;

using offsets = std::span<const std::size_t>;

/// The file, one buffer, and the blocks in the order in which they are wanted.
struct task {
  explicit task(cell& the_cell)
      : block{whole_pages(the_cell.size("block"))},
        file{the_cell, std::max(the_cell.size("bytes") / block, std::size_t{1}) * block},
        buffer{block / sizeof(word)},
        order{file.bytes() / block},
        sequential{the_cell.text("order") == "sequential"},
        touched{touched_by(the_cell)} {
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i * block;
    if (!sequential) the_cell.random().shuffle(order.span());
  }

  std::size_t block;
  warm_file file;
  mapped_array<word> buffer;
  mapped_array<std::size_t> order;
  bool sequential;
  touching touched;
};

/// `read()` reads all of the task's blocks and returns the sum of their words.
template <class Read>
void measure(cell& the_cell, const task& all, Read&& read) {
  the_cell.each_repeat([&](sample& the_sample) {
    word sum = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(all.order.size(), [&] {
      sum = read();
      keep(sum);
    });
    the_sample.set(rate_name, gib_per_second(all.file.bytes(), elapsed_ns));
    const word written = all.file.sum(all.touched);
    the_cell.check("work", sum == written, "the words read add up to {}, written {}", sum, written);
  });
}

void measure_read(cell& the_cell) {
  const task all{the_cell};
  measure(the_cell, all, [&] {
    word sum = 0;
    lseek(all.file.number(), 0, SEEK_SET);
    for (const std::size_t offset : all.order) {
      if (!all.sequential) lseek(all.file.number(), static_cast<off_t>(offset), SEEK_SET);
      if (read(all.file.number(), all.buffer.data(), all.block) <= 0) return word{0};
      sum += all.touched.sum(all.buffer.data(), all.block);
    }
    return sum;
  });
}

void measure_pread(cell& the_cell) {
  const task all{the_cell};
  measure(the_cell, all, [&] {
    word sum = 0;
    for (const std::size_t offset : all.order) {
      const auto at = static_cast<off_t>(offset);
      if (pread(all.file.number(), all.buffer.data(), all.block, at) <= 0) return word{0};
      sum += all.touched.sum(all.buffer.data(), all.block);
    }
    return sum;
  });
}

word sum_mapped(const word* from, const task& all) {
  word sum = 0;
  for (const std::size_t offset : all.order) {
    sum += all.touched.sum(from + offset / sizeof(word), all.block);
  }
  return sum;
}

/// The mapping is there and was read before: what a program pays that keeps it.
void measure_mapped(cell& the_cell) {
  const task all{the_cell};
  const mapping mapped{all.file.bytes(), MAP_SHARED, all.file.number()};
  keep(sum_mapped(mapped.words(), all));
  measure(the_cell, all, [&] { return sum_mapped(mapped.words(), all); });
}

/// The mapping is made, read once and taken down, all in the timed region.
void measure_mapped_anew(cell& the_cell) {
  const task all{the_cell};
  measure(the_cell, all, [&] {
    const mapping mapped{all.file.bytes(), MAP_SHARED, all.file.number()};
    return sum_mapped(mapped.words(), all);
  });
}

/// What adding up alone costs: the same words in memory of the process.
void measure_memory(cell& the_cell) {
  const task all{the_cell};
  const mapping copy{all.file.bytes(), MAP_PRIVATE | MAP_POPULATE};
  if (pread(all.file.number(), copy.words(), copy.bytes(), 0) < 0) {
    the_cell.refuse("file", "the file cannot be read");
  }
  measure(the_cell, all, [&] { return sum_mapped(copy.words(), all); });
}

#if defined(HEAPWISE_HAS_URING)
void measure_uring(cell& the_cell) {
  const task all{the_cell};
  if (all.touched.heads) the_cell.refuse("touch", "io_uring adds up every word of its buffers");
  ring_reader reader{all.block};
  if (!reader.ready()) {
    the_cell.refuse(
        "io_uring",
        "io_uring_setup was refused: the kernel is too old, kernel.io_uring_disabled is "
        "set, or a filter of system calls forbids it");
  }
  measure(the_cell, all, [&] { return reader.sum(all.file.number(), all.order.span()); });
}

constexpr auto uring = measure_uring;
constexpr const char* uring_reason = "";
#else
constexpr void (*uring)(cell&) = nullptr;
constexpr const char* uring_reason = "built without liburing: install liburing-dev, build again";
#endif

constexpr std::int64_t large_block = 65'536;

const experiment question{
    .id = "syscalls/file_read",
    .question = "Which way to read a file is the fastest when its pages are in memory already?",
    .isolates =
        "The way from the page cache to the program. Every word of the file is read and added "
        "up, whichever way it came, and the sum must be right; `memory` is that adding alone. "
        "With touch=pages the program looks at the first word of each page only.",
    .not_shown =
        "The disk. Files larger than memory. More than one thread. io_uring keeps eight reads in "
        "flight, which gains most where a read has to wait for a disk; here each is done at once. "
        "The file system is the one under the folder for temporary files. latency-lab's 676 GiB/s "
        "for a mapping are more than its memory can give: it reads one byte of each page, and "
        "counts the page; touch=pages does that, with one word. With touch=words every word is "
        "read, and `mmap` is about as fast as `memory`; it may win a little, since the page cache "
        "may hold a file in larger pieces than pages of 4 KiB.",
    .parameters =
        {{"order",
          "of the blocks: sequential or random",
          {"sequential", "random"},
          {"sequential", "random"}},
         {"block", "bytes of one read, whole pages", {4096, large_block}, {4096}, "bytes"},
         {"bytes", "of the file", {16 << 20}, {1 << 20}, "bytes"},
         touch_parameter},
    .quantities = {{rate_name, "GiB/s", better::higher, "bytes of the pages read"}, processor_time},
    .subjects = {{"read", "read (and lseek, in random order)", measure_read},
                 {"pread", "pread", measure_pread},
                 {"mmap", "a mapping that stays", measure_mapped},
                 {"mmap_anew", "a mapping made, read once, taken down", measure_mapped_anew},
                 {"io_uring", "io_uring, eight reads in flight", uring, uring_reason},
                 {"memory", "the adding alone, in memory of the process", measure_memory}},
    .baseline = "read",
    .expectations = {{.says = "a mapping that stays is faster than reads of a page each",
                      .quantity = rate_name,
                      .subject = "mmap",
                      .over = "read",
                      .parameters = {{"block", 4096}},
                      .at_least = 1.2},
                     {.says = "no mapping is read much faster than memory",
                      .quantity = rate_name,
                      .subject = "mmap",
                      .over = "memory",
                      .at_most = 1.5}},
    .answers = {{.quantity = "throughput"}},
    .yardsticks = {"memory"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
