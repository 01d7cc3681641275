// Sizes that change while the program runs: survivors of the old sizes stand in the way of the new.
#include <algorithm>

#include "harness/mapped_array.hpp"
#include "sources/marks.hpp"
#include "sources/quantities.hpp"
#include "sources/sources.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::uint64_t mib = 1 << 20;
constexpr unsigned phases = 6; // sizes double from one to the next: 16 to 96, ... 512 to 3072 bytes
constexpr unsigned passes = 2;
constexpr std::uint32_t least_bytes = 16;
constexpr std::uint32_t most_bytes = 96;

struct held {
  void* block;
  std::uint32_t bytes;
  unsigned char mark;
};

/// The program's blocks. What is to be done next is decided outside the clock, by planning.
class population {
 public:
  /// The blocks of the first phase, 56 bytes on average, are the most that are ever live.
  explicit population(std::uint64_t full_bytes) : blocks_{full_bytes / 48} {}

  /// Decides what to allocate until `full_bytes` are live.
  void plan_growth(std::uint64_t full_bytes, unsigned phase, random_numbers& random) {
    grown_ = live_;
    while (live_bytes_ < full_bytes && grown_ < blocks_.size()) {
      held& next = blocks_[grown_];
      next.bytes = (least_bytes << phase) +
                   static_cast<std::uint32_t>(
                       random.below(((most_bytes - least_bytes) << phase) + std::uint64_t{1}));
      next.mark = heaps::mark_of(grown_++);
      live_bytes_ += next.bytes;
    }
  }
  template <class Source>
  void grow(Source& source) {
    for (held& next : blocks_.span().subspan(live_, grown_ - live_)) {
      next.block = source.allocate(next.bytes);
      heaps::mark(next.block, next.bytes, next.mark);
    }
    live_ = grown_;
  }
  [[nodiscard]] std::size_t growth() const noexcept { return grown_ - live_; }

  /// Decides which blocks to free, any of them, until no more than `kept_bytes` are live.
  void plan_loss(std::uint64_t kept_bytes, random_numbers& random) {
    kept_ = live_;
    while (live_bytes_ > kept_bytes && kept_ != 0) {
      std::swap(blocks_[static_cast<std::size_t>(random.below(kept_))], blocks_[kept_ - 1]);
      live_bytes_ -= blocks_[--kept_].bytes;
    }
  }
  template <class Source>
  void shrink(Source& source) {
    for (const held& last : blocks_.span().subspan(kept_, live_ - kept_)) {
      source.deallocate(last.block, last.bytes);
      clobber();
    }
    live_ = kept_;
  }
  [[nodiscard]] std::size_t loss() const noexcept { return live_ - kept_; }

  [[nodiscard]] std::uint64_t live_bytes() const noexcept { return live_bytes_; }
  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  [[nodiscard]] std::size_t whole() const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(
        blocks_.span().first(live_),
        [](const held& each) { return heaps::is_marked(each.block, each.bytes, each.mark); }));
  }

 private:
  mapped_array<held> blocks_; // the live ones first, in no order
  std::size_t live_ = 0;
  std::size_t grown_ = 0;
  std::size_t kept_ = 0;
  std::uint64_t live_bytes_ = 0;
};

struct outcome {
  double worst = 0;
  double sum = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t operations = 0;
  std::uint64_t allocations = 0;
};

template <class Source>
struct measure {
  static void run(cell& given) {
    population blocks{given.size("full_mib") * mib};
    resident_meter meter;
    given.each_repeat([&](sample& yields) {
      Source source;
      meter.restart_peak();
      outcome seen;
      for (unsigned phase = 0; phase < passes * phases; ++phase) {
        one_phase(given, yields, source, blocks, meter, phase % phases, seen);
      }
      const std::size_t live = blocks.live();
      const std::size_t whole = blocks.whole();
      blocks.plan_loss(0, given.random());
      blocks.shrink(source);
      yields.set("resident_over_live", seen.worst);
      yields.set("mean_resident_over_live", seen.sum / (passes * phases));
      yields.set("throughput", heaps::mops(seen.operations, seen.elapsed_ns));
      heaps::set_peak(yields, meter);
      given.check("work", whole == live && live != 0, "%zu whole blocks of the last %zu", whole,
                  live);
      given.expect_calls(seen.allocations);
    });
  }

  static void one_phase(cell& given, sample& yields, Source& source, population& blocks,
                        resident_meter& meter, unsigned phase, outcome& seen) {
    blocks.plan_growth(given.size("full_mib") * mib, phase, given.random());
    const std::size_t growth = blocks.growth();
    seen.elapsed_ns += yields.measure(growth, [&] { blocks.grow(source); });
    const double now = heaps::ratio(meter.now(), blocks.live_bytes());
    seen.worst = std::max(seen.worst, now);
    seen.sum += now;
    blocks.plan_loss(given.size("kept_mib") * mib, given.random());
    const std::size_t loss = blocks.loss();
    seen.elapsed_ns += yields.measure(loss, [&] { blocks.shrink(source); });
    seen.operations += growth + loss;
    seen.allocations += growth;
  }
};

const experiment question{
    .id = "heap/size_shift",
    .question = "How much memory does a program hold whose blocks change their sizes over time?",
    .isolates =
        "Survivors: blocks of one range of sizes are allocated until 256 MiB are live, then "
        "random ones freed until 64 MiB are, then the next range, twice as large, takes their "
        "place; six ranges from 16 to 3072 bytes, gone through twice.",
    .not_shown =
        "What one phase holds depends on all before it: the worst peak is usually late. Pages "
        "that the kernel may take back, but has not yet, count as resident. The throughput has "
        "random frees of blocks that left the caches long ago, and page faults; both ends of each "
        "block are written to.",
    .parameters =
        {{"full_mib", "requested bytes live at the peak of each phase", {256}, {8}, "MiB"},
         {"kept_mib", "of them kept when the phase ends", {64}, {2}, "MiB"}},
    .quantities = {{"resident_over_live", "x", better::lower,
                    "resident memory over requested bytes live, at the worst of the twelve peaks"},
                   {"mean_resident_over_live", "x", better::lower, "the mean of the twelve peaks"},
                   {"throughput", "Mops/s", better::higher,
                    "allocations and frees, each counted as one, in a microsecond"},
                   heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 1,
    .dropped_repeats = 0,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
