// Frames of unequal size, everything freed at the end of each.
#include <algorithm>
#include <type_traits>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/memory/resident.hpp"
#include "sources/arenas.hpp"
#include "workload/block_use.hpp"

namespace {

using namespace heapwise::bench;

/// All requests of all frames, drawn before the clock starts.
class frames {
 public:
  explicit frames(cell& the_cell)
      : ends_{the_cell.size("frames")}, sizes_{ends_.size() * most_requests} {
    const bool buffers = the_cell.text("requests") == "buffers";
    std::size_t next = 0;
    for (std::size_t& end : ends_) {
      const std::size_t first = next;
      const std::size_t count = buffers ? 20 : 100 + the_cell.random().below(most_requests - 100);
      std::size_t frame = 0;
      for (; next < first + count; ++next) {
        sizes_[next] = buffers ? buffer_bytes(the_cell.random()) : object_bytes(the_cell.random());
        frame += sizes_[next];
        told_.largest_request = std::max<std::size_t>(told_.largest_request, sizes_[next]);
      }
      told_.largest_frame = std::max(told_.largest_frame, frame);
      end = next;
    }
  }

  [[nodiscard]] std::size_t count() const { return ends_.size(); }
  [[nodiscard]] std::size_t requests() const { return ends_[ends_.size() - 1]; }
  [[nodiscard]] std::span<const std::uint32_t> sizes_of(std::size_t frame) const {
    const std::size_t first = frame == 0 ? 0 : ends_[frame - 1];
    return sizes_.span().subspan(first, ends_[frame] - first);
  }
  [[nodiscard]] const arenas::demand& told() const { return told_; }

  static constexpr std::size_t most_requests = 10'000;

 private:
  static std::uint32_t object_bytes(random_numbers& random) {
    return static_cast<std::uint32_t>(16 + random.below(241));
  }
  /// Nine of ten up to 256 KiB; the others 4 to 20 MiB.
  static std::uint32_t buffer_bytes(random_numbers& random) {
    constexpr std::uint64_t kib = 1024;
    constexpr std::uint64_t mib = 1024 * kib;
    const bool large = random.below(10) == 0;
    return static_cast<std::uint32_t>(large ? 4 * mib + random.below(16 * mib)
                                            : 64 + random.below(256 * kib));
  }

  mapped_array<std::size_t> ends_;
  mapped_array<std::uint32_t> sizes_;
  arenas::demand told_{};
};

/// write: one byte of each page; all: every byte.
template <touching how>
void fill(void* block, std::size_t bytes) {
  constexpr std::size_t page_bytes = 4096;
  use_new<how>(block, bytes);
  if constexpr (how == touching::write) {
    auto* const first = static_cast<volatile unsigned char*>(block);
    for (std::size_t at = page_bytes; at < bytes; at += page_bytes) first[at] = 1;
  }
}

/// Plays all frames. Returns how many blocks still bore their number at the end of their frame.
template <touching how, class Source>
std::size_t play(Source& source, const frames& all, void** held) {
  std::size_t whole = 0;
  for (std::size_t frame = 0; frame < all.count(); ++frame) {
    const auto sizes = all.sizes_of(frame);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      held[i] = source.allocate(sizes[i]);
      fill<how>(held[i], sizes[i]);
      *static_cast<std::size_t*>(held[i]) = i;
      escape(held[i]);
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      whole += *static_cast<std::size_t*>(held[i]) == i ? 1 : 0;
      use_last<how>(held[i], sizes[i]);
    }
    source.end_frame({held, sizes.size()});
    clobber();
  }
  return whole;
}

template <class Source>
void measure(cell& the_cell) {
  const frames all{the_cell};
  const mapped_array<void*> held{frames::most_requests};
  resident_meter meter;
  with_touching(the_cell, [&]<touching how> {
    the_cell.each_repeat([&](sample& the_sample) {
      meter.restart_peak();
      arenas::reserve::restart();
      std::size_t whole = 0;
      the_sample.time("allocation", all.requests(), [&] {
        Source source{all.told()};
        whole = play<how>(source, all, held.data());
      });
      const std::uint64_t peak = meter.peak();
      // What malloc has from the system is not known; what is resident of it is.
      const double most = static_cast<double>(
          std::is_same_v<Source, arenas::system_malloc> ? peak : arenas::reserve::most());
      the_sample.set("reserved_over_frame", most / static_cast<double>(all.told().largest_frame));
      the_sample.set("peak_resident", static_cast<double>(peak));
      the_sample.set_processor_time(all.requests());
      the_cell.check("work", whole == all.requests(), "{} whole blocks of {}", whole,
                     all.requests());
      the_cell.expect_calls(std::is_same_v<Source, arenas::system_malloc> ? all.requests() : 0);
    });
  });
}

std::vector<subject> subjects() {
  using namespace arenas;
  std::vector<subject> all{
      {"arena", "heapwise::arena, reset", measure<ours>},
      {"arena_pmr", "heapwise::arena_resource, reset", measure<ours_by_resource>},
      {"malloc", "malloc, and a free for each", measure<system_malloc>, "", subject_kind::malloc},
      {"pmr_monotonic", "std::pmr::monotonic_buffer_resource, released", measure<pmr_monotonic>},
      {"pmr_buffer", "the same with a buffer for the largest frame", measure<pmr_buffer>},
  };
#if defined(HEAPWISE_HAS_FOONATHAN)
  all.push_back({"foonathan_stack", "foonathan memory_stack, unwound", measure<foonathan_stack>});
#else
  all.push_back({"foonathan_stack", "foonathan memory_stack, unwound", nullptr,
                 "not in this build: install libfoonathan-memory-dev and build again"});
#endif
  return all;
}

const experiment question{
    .id = "arena/frames",
    .question = "What do frames of unequal size cost, and how much memory is held for them?",
    .isolates =
        "Memory that is allocated piece by piece and freed all at once at the end of each frame. "
        "Each process plays its frames once, so that everybody pays his own page faults; the arena "
        "is made and destroyed inside the clock. Each block bears a number until its frame ends.",
    .not_shown =
        "One frame after another of the same size, which every arena holds in one chunk. "
        "pmr_buffer and foonathan_stack are told beforehand what the largest frame or the largest "
        "request will be, the others nothing. reserved_over_frame counts what an arena asked its "
        "source for, resident or not; of a malloc it is what was resident. Using the memory is "
        "most of the time of large buffers, the same for all.",
    .parameters = {{"frames", "played one after the other", {200}, {8}},
                   {"requests",
                    "objects: 100 to 10,000 of 16 to 256 bytes in a frame; buffers: 20 of up to "
                    "256 KiB, one in ten of 4 to 20 MiB",
                    {"objects", "buffers"},
                    {"objects", "buffers"}},
                   touch_parameter()},
    .quantities = {{"allocation", "ns/op", better::lower,
                    "one allocation, the use of the block, and its share of the end of the frame"},
                   {"reserved_over_frame", "x", better::lower,
                    "the most that was reserved at once over the largest frame"},
                   {"peak_resident", "bytes", better::lower,
                    "the most memory that was resident at once, above what was before"},
                   processor_time},
    .subjects = subjects(),
    .baseline = "pmr_monotonic",
    .repeats = 1,
    .dropped_repeats = 0,
    .answers = {{.quantity = "allocation", .subject = "arena", .over = "pmr_monotonic"},
                {.quantity = "reserved_over_frame", .subject = "arena", .over = "pmr_buffer"}},
    .work_parameters = {"requests", "touch"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
