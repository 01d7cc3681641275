// Vectors that grow: realloc by many steps.
#include "harness/memory/mapped_array.hpp"
#include "sources/marks.hpp"
#include "sources/quantities.hpp"
#include "sources/sources.hpp"

namespace {

using namespace heapwise::bench;

/// The byte that each step of growth writes at the new end, and that must still be there at the
/// end.
unsigned char content_of(std::size_t bytes) { return heaps::mark_of(bytes / 64); }

/// Grows all blocks from one step to `last_bytes`, by turns; each new end is written to.
template <class Source>
void grow_small(Source& source, const mapped_array<void*>& blocks, std::size_t step_bytes,
                std::size_t last_bytes) {
  for (void*& block : blocks) block = nullptr;
  for (std::size_t bytes = step_bytes; bytes <= last_bytes; bytes += step_bytes) {
    for (void*& block : blocks) {
      block = source.reallocate(block, bytes - step_bytes, bytes);
      static_cast<volatile unsigned char*>(block)[bytes - 1] = content_of(bytes);
      escape(block);
    }
  }
}

/// Steps whose byte is still there, over all blocks.
std::size_t count_kept(const mapped_array<void*>& blocks, std::size_t step_bytes,
                       std::size_t last_bytes) {
  std::size_t kept = 0;
  for (void* block : blocks) {
    for (std::size_t bytes = step_bytes; bytes <= last_bytes; bytes += step_bytes) {
      kept += static_cast<unsigned char*>(block)[bytes - 1] == content_of(bytes) ? 1 : 0;
    }
  }
  return kept;
}

/// Grows one block by `step_bytes`, all pages touched.
template <class Source>
void* grow_large(Source& source, std::size_t step_bytes, std::size_t last_bytes) {
  void* block = nullptr;
  for (std::size_t bytes = step_bytes; bytes <= last_bytes; bytes += step_bytes) {
    block = source.reallocate(block, bytes - step_bytes, bytes);
    heaps::touch_pages(static_cast<char*>(block) + bytes - step_bytes, step_bytes);
    escape(block);
  }
  return block;
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    if (the_cell.size("last_bytes") < the_cell.size("step_bytes") ||
        the_cell.size("large_last_bytes") < the_cell.size("large_step_bytes")) {
      the_cell.refuse("growth", "a step is larger than what is to be reached by steps");
    }
    const mapped_array<void*> blocks{the_cell.size("blocks")};
    resident_meter meter;
    the_cell.each_repeat([&](sample& the_sample) {
      meter.restart_peak();
      one_repeat(the_cell, the_sample, blocks);
      heaps::set_peak(the_sample, meter);
    });
  }

  static void one_repeat(cell& the_cell, sample& the_sample, const mapped_array<void*>& blocks) {
    const std::size_t step = the_cell.size("step_bytes");
    const std::size_t last = the_cell.size("last_bytes");
    const std::size_t steps = last / step * blocks.size();
    const std::size_t large_step = the_cell.size("large_step_bytes");
    const std::size_t large_last = the_cell.size("large_last_bytes");
    const std::size_t large_steps = large_last / large_step;
    Source source;
    the_sample.time("growth", steps, [&] { grow_small(source, blocks, step, last); });
    the_sample.set_processor_time(steps);
    const std::size_t kept = count_kept(blocks, step, last);
    for (void* block : blocks) source.deallocate_resized(block);
    void* large = nullptr;
    the_sample.time("large_growth", large_steps,
                    [&] { large = grow_large(source, large_step, large_last); });
    const bool whole = count_pages(large, large_steps * large_step);
    source.deallocate_resized(large);
    the_cell.check("work", kept == steps && whole, "{} steps of {} kept their byte, large block {}",
                   kept, steps, whole ? "whole" : "spoiled");
    the_cell.expect_calls(steps + large_steps);
  }

  static bool count_pages(const void* block, std::size_t bytes) {
    const auto* const first = static_cast<const unsigned char*>(block);
    for (std::size_t at = 0; at < bytes; at += 4096) {
      if (first[at] != 1) return false;
    }
    return true;
  }
};

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

const experiment question{
    .id = "heap/realloc_growth",
    .question = "What does it cost to let blocks grow by realloc?",
    .isolates =
        "Growth at the place or to another one: several blocks grow to 1 MiB by turns, so that "
        "each stands in another's way; then one block grows to 64 MiB.",
    .not_shown =
        "Vectors that double: they call realloc seldom. Growth within the size class that a block "
        "has anyway is free everywhere. The first use of pages is in both figures, and the rest "
        "is copying or moving pages.",
    .parameters = {{"blocks", "that grow by turns", {8}, {4}},
                   {"step_bytes", "of each growth", {2 * kib}, {2 * kib}, "bytes"},
                   {"last_bytes", "to which each block grows", {mib}, {128 * kib}, "bytes"},
                   {"large_step_bytes", "of the large block", {8 * mib}, {mib}, "bytes", 4096},
                   {"large_last_bytes", "to which it grows", {64 * mib}, {8 * mib}, "bytes"}},
    .quantities = {{"growth", "ns/op", better::lower, "one realloc, with one byte written"},
                   processor_time,
                   {"large_growth", "ns/op", better::lower,
                    "one realloc of the large block, with its new pages touched"},
                   heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 3,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
