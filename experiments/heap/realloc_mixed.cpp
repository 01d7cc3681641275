// Vectors of all lengths that grow by half: realloc of small, middle and large blocks.
#include <algorithm>
#include <cmath>
#include <span>

#include "harness/fill_time.hpp"
#include "harness/memory/mapped_array.hpp"
#include "sources/marks.hpp"
#include "sources/quantities.hpp"
#include "sources/sources.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::uint32_t first_bytes = 16;
constexpr std::uint32_t least_end_bytes = 64;
constexpr std::uint32_t most_end_bytes = 1 << 20;
constexpr std::uint32_t most_neighbour_bytes = 1 << 16;
constexpr std::size_t most_neighbours = 1000; ///< live at once; the oldest is freed first
constexpr std::size_t most_steps = 30;        ///< of a block: ln(65536) / ln(1.5), start and end
constexpr std::uint64_t region_ns = 20'000'000;

/// Log-uniform: every octave between the two is equally likely.
std::uint32_t random_bytes(std::uint32_t least, std::uint32_t most, random_numbers& random) {
  const double octaves = std::log2(static_cast<double>(most) / least);
  return static_cast<std::uint32_t>(least * std::exp2(octaves * random.unit()));
}

struct step {
  std::uint32_t slot;
  std::uint32_t bytes;     ///< of the slot's block after the step; 0: it is freed
  std::uint32_t neighbour; ///< bytes of a block that is allocated after the step; 0: none
};

/// What the program does, decided before the clock starts: at each step a random slot gets a new
/// block, or its block grows by half, or its block has reached its end and is freed.
class plan {
 public:
  plan(std::size_t blocks, std::size_t slots, bool with_neighbours, random_numbers& random)
      : with_neighbours_{with_neighbours}, steps_{blocks * most_steps} {
    const mapped_array<growth> grown{slots};
    for (std::size_t started = 0, ended = 0; ended < blocks;) {
      const std::size_t slot = static_cast<std::size_t>(random.below(slots));
      growth& chosen = grown[slot];
      if (chosen.bytes == 0 && started < blocks) {
        ++started;
        chosen.end_bytes = random_bytes(least_end_bytes, most_end_bytes, random);
        resize(slot, chosen, first_bytes, random);
      } else if (chosen.bytes != 0 && chosen.bytes < chosen.end_bytes) {
        ++reallocs_;
        grown_bytes_ += chosen.end_bytes - chosen.bytes;
        const std::uint32_t half_more = chosen.bytes + chosen.bytes / 2;
        resize(slot, chosen, std::min(half_more, chosen.end_bytes), random);
        grown_bytes_ -= chosen.end_bytes - chosen.bytes;
      } else if (chosen.bytes != 0) {
        ++ended;
        resize(slot, chosen, 0, random);
      }
    }
  }

  [[nodiscard]] std::span<const step> steps() const noexcept { return steps_.span().first(count_); }
  [[nodiscard]] std::size_t reallocs() const noexcept { return reallocs_; }
  [[nodiscard]] std::size_t neighbours() const noexcept { return neighbours_; }
  /// By which all blocks grow together.
  [[nodiscard]] std::uint64_t grown_bytes() const noexcept { return grown_bytes_; }
  [[nodiscard]] std::uint64_t peak_live_bytes() const noexcept { return peak_live_bytes_; }

 private:
  struct growth {
    std::uint32_t bytes; ///< 0: the slot is empty
    std::uint32_t end_bytes;
  };

  void resize(std::size_t slot, growth& chosen, std::uint32_t bytes, random_numbers& random) {
    live_bytes_ += bytes;
    live_bytes_ -= chosen.bytes;
    chosen.bytes = bytes;
    step& next = steps_[count_++];
    next = {static_cast<std::uint32_t>(slot), bytes, 0};
    if (with_neighbours_ && bytes != 0) {
      next.neighbour = random_bytes(first_bytes, most_neighbour_bytes, random);
      std::uint32_t& oldest = ring_[neighbours_++ % most_neighbours];
      live_bytes_ += next.neighbour;
      live_bytes_ -= oldest;
      oldest = next.neighbour;
    }
    peak_live_bytes_ = std::max(peak_live_bytes_, live_bytes_);
  }

  bool with_neighbours_;
  mapped_array<step> steps_;
  mapped_array<std::uint32_t> ring_{most_neighbours}; // bytes of the neighbours that live
  std::size_t count_ = 0;
  std::size_t reallocs_ = 0;
  std::size_t neighbours_ = 0;
  std::uint64_t grown_bytes_ = 0;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t peak_live_bytes_ = 0;
};

struct held {
  void* block = nullptr;
  std::uint32_t bytes = 0;
};

/// The blocks of a program that follows a plan.
template <class Source>
class program {
 public:
  explicit program(std::size_t slots) : growing_{slots}, neighbours_{most_neighbours} {}

  void follow(std::span<const step> steps) {
    for (const step& each : steps) {
      held& chosen = growing_[each.slot];
      if (each.bytes == 0) {
        source_.deallocate_resized(chosen.block);
        chosen = {};
      } else {
        grow(chosen, each.bytes);
      }
      if (each.neighbour != 0) replace_oldest_neighbour(each.neighbour);
    }
  }

  /// Frees the neighbours that are left, and forgets what was counted.
  void restart() {
    for (held& each : neighbours_) {
      if (each.block != nullptr) source_.deallocate(each.block, each.bytes);
      each = {};
    }
    next_neighbour_ = 0;
    moved_bytes_ = 0;
    whole_ = 0;
  }

  /// Old bytes of the blocks that a realloc put at another address.
  [[nodiscard]] std::uint64_t moved_bytes() const noexcept { return moved_bytes_; }
  /// Reallocs that left the first and the last byte of the old block as they were.
  [[nodiscard]] std::size_t whole() const noexcept { return whole_; }

 private:
  /// One byte in each page that is new, as the program's first use of it.
  void grow(held& chosen, std::uint32_t bytes) {
    void* const old = chosen.block;
    void* const block =
        old == nullptr ? source_.allocate(bytes) : source_.reallocate(old, chosen.bytes, bytes);
    escape(block);
    if (old != nullptr) {
      moved_bytes_ += block == old ? 0 : chosen.bytes;
      whole_ += heaps::is_marked(block, chosen.bytes, mark_of(chosen)) ? 1 : 0;
    }
    heaps::touch_pages(static_cast<char*>(block) + chosen.bytes, bytes - chosen.bytes);
    chosen = {block, bytes};
    heaps::mark(block, bytes, mark_of(chosen));
  }

  void replace_oldest_neighbour(std::uint32_t bytes) {
    held& oldest = neighbours_[next_neighbour_++ % most_neighbours];
    if (oldest.block != nullptr) source_.deallocate(oldest.block, oldest.bytes);
    oldest = {source_.allocate(bytes), bytes};
    heaps::touch_pages(oldest.block, bytes);
  }

  /// By size, since the address changes.
  static unsigned char mark_of(const held& block) noexcept { return heaps::mark_of(block.bytes); }

  Source source_;
  mapped_array<held> growing_;
  mapped_array<held> neighbours_;
  std::size_t next_neighbour_ = 0;
  std::uint64_t moved_bytes_ = 0;
  std::size_t whole_ = 0;
};

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const std::size_t slots = the_cell.size("at_once");
    const std::size_t blocks = the_cell.size("blocks");
    const plan does{blocks, slots, the_cell.text("neighbours") == "with", the_cell.random()};
    const std::size_t calls = blocks + does.reallocs() + does.neighbours();
    program<Source> runs{slots};
    const auto play = [&](std::size_t times) {
      for (std::size_t i = 0; i < times; ++i) runs.follow(does.steps());
      the_cell.expect_calls(times * calls);
    };
    resident_meter meter;
    const std::size_t plays = count_that_fills(region_ns, 1, play);
    the_cell.each_repeat([&](sample& the_sample) {
      runs.restart();
      meter.restart_peak();
      the_sample.time("realloc", plays * does.reallocs(), [&] { play(plays); });
      the_sample.set_processor_time(plays * does.reallocs());
      the_sample.set("moved", heaps::ratio(runs.moved_bytes(), plays * does.grown_bytes()));
      the_sample.set("resident_over_live", heaps::ratio(meter.peak(), does.peak_live_bytes()));
      heaps::set_peak(the_sample, meter);
      the_cell.check("work", runs.whole() == plays * does.reallocs(),
                     "{} whole blocks after {} reallocs", runs.whole(), plays * does.reallocs());
    });
  }
};

const experiment question{
    .id = "heap/realloc_mixed",
    .question = "What does realloc cost when vectors of all lengths grow by half?",
    .isolates =
        "Growth of 16 bytes by half up to a random end of 64 B to 1 MiB, every octave equally "
        "likely, one block after the other or many by random turns. With neighbours, each step "
        "also allocates a block of 16 B to 64 KiB that stays for 1000 steps and may stand in the "
        "way.",
    .not_shown =
        "The filling of the new part: one byte in each of its pages is written. The first "
        "malloc and the free of each block are in the figure, and with neighbours the malloc and "
        "the free of one block for each realloc. A block that moved was copied, or its pages were "
        "given another address; both count as moved.",
    .parameters = {{"blocks", "that grow to their end, in all", {2000}, {300}},
                   {"at_once", "blocks that grow by turns", {1, 200}, {1, 30}},
                   {"neighbours",
                    "blocks that are allocated between the steps, with or without",
                    {"without", "with"},
                    {"without", "with"}}},
    .quantities = {{"realloc", "ns/op", better::lower,
                    "the time of the whole program over the number of its reallocs"},
                   processor_time,
                   {"moved", "x", better::lower,
                    "bytes that a realloc put at another address, over the bytes that were added"},
                   {"resident_over_live", "x", better::lower,
                    "the peak of resident memory over the peak of what was asked for"},
                   heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 3,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
