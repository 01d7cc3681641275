// The longest single call: what a program with a deadline asks of malloc.
#include <algorithm>
#include <type_traits>

#include "harness/processes/own_process.hpp"
#include "harness/processes/two_sides.hpp"
#include "sources/own_time.hpp"
#include "sources/population.hpp"
#include "sources/quantities.hpp"
#include "sources/sources.hpp"
#include "sources/system_figures.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::uint64_t mib = 1 << 20;
constexpr unsigned most_seconds = 100; ///< of processor time for a play, which takes a few

/// Does nothing: what is left is the harness, and what strikes it.
struct no_heap {
  void* allocate(std::size_t) noexcept { return block_; }
  static void deallocate(void*, std::size_t) noexcept {}

  alignas(16) unsigned char block_[8192];
};

/// What a play says of itself, in memory that its process shares with this one.
struct play_result {
  double alloc_max = 0;
  double alloc_p99_999 = 0;
  double free_max = 0;
  double free_p99_999 = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t allocations = 0; ///< all, also those that are not judged
  std::uint64_t judged = 0;
  std::uint64_t interrupted = 0;
  std::uint64_t waited = 0;
  std::uint64_t live = 0;
  std::uint64_t whole = 0;
};

/// One play of a shape: a heap that changes its sizes, every call timed.
template <class Source>
class play {
 public:
  play(std::uint64_t full_bytes, std::size_t most_blocks, random_numbers random)
      : full_bytes_{full_bytes}, random_{random}, blocks_{most_blocks}, log_{1}, source_{log_[0]} {}

  void change_sizes() {
    heaps::byte_range sizes{128, 768};
    grow(sizes);
    for (unsigned doubled = 0; doubled < 2; ++doubled) { // the last is 512 to 3072
      blocks_.plan_loss(full_bytes_ / 4, random_);
      log_[0].resume();
      blocks_.shrink(source_);
      sizes = {2 * sizes.least, 2 * sizes.most};
      grow(sizes);
    }
  }

  /// Of many blocks of one small size a quarter survives; only what follows is judged.
  void outlive() {
    constexpr std::size_t small_bytes = 64;
    const mapped_array<void*> small{full_bytes_ / small_bytes};
    meter_ = resident_meter{};
    Source untimed;
    for (std::size_t i = 0; i < small.size(); ++i) {
      small[i] = untimed.allocate(small_bytes);
      heaps::mark(small[i], small_bytes, heaps::mark_of(i));
    }
    allocations_ = small.size();
    log_[0].restart();
    std::size_t survivors = 0;
    for (void*& each : small) {
      if (random_.below(4) == 0) {
        ++survivors;
      } else {
        source_.deallocate(each, small_bytes);
        each = nullptr;
      }
    }
    full_bytes_ -= survivors * small_bytes;
    grow({2560, 8192});
    live_ = survivors;
    for (std::size_t i = 0; i < small.size(); ++i) {
      const bool whole =
          small[i] != nullptr && heaps::is_marked(small[i], small_bytes, heaps::mark_of(i));
      whole_ += whole ? 1 : 0;
    }
  }

  void report(play_result& into) {
    const heaps::own_time_log& log = log_[0];
    into.alloc_max = log.ns(log.allocations().max());
    into.alloc_p99_999 = log.ns(log.allocations().at(.99999));
    into.free_max = log.ns(log.frees().max());
    into.free_p99_999 = log.ns(log.frees().at(.99999));
    into.peak_bytes = meter_.peak();
    into.allocations = allocations_;
    into.judged = log.allocations().count() + log.frees().count();
    into.interrupted = log.interrupted();
    into.waited = log.waited();
    into.live = live_ + blocks_.live();
    into.whole = whole_ + blocks_.whole();
  }

 private:
  void grow(heaps::byte_range sizes) {
    blocks_.plan_growth(full_bytes_, sizes, random_);
    allocations_ += blocks_.growth();
    log_[0].resume();
    blocks_.grow(source_);
  }

  std::uint64_t full_bytes_;
  random_numbers random_;
  heaps::population blocks_;
  mapped_array<heaps::own_time_log> log_;
  heaps::timed_source<Source> source_;
  resident_meter meter_;
  std::uint64_t allocations_ = 0;
  std::uint64_t live_ = 0; // small blocks that survived, and those of them that were whole
  std::uint64_t whole_ = 0;
};

template <class Source>
struct measure {
  static constexpr bool is_heap = !std::is_same_v<Source, no_heap>;

  static void run(cell& the_cell) {
    const std::uint64_t full_bytes = the_cell.size("full_mib") * mib;
    if (!heaps::may_use(3 * full_bytes)) {
      the_cell.refuse("memory",
                      "less than three times full_mib is available; try --set full_mib=128");
    }
    const shared_object<play_result> result;
    the_cell.each_repeat([&](sample& the_sample) {
      play_result least;
      for (std::size_t i = 0; i < the_cell.size("plays"); ++i) {
        const random_numbers same_in_each_play = the_cell.random();
        the_sample.measure(1, [&] { one_play(the_cell, full_bytes, same_in_each_play, *result); });
        least = i == 0 ? *result : least_of(least, *result);
        the_cell.expect_calls(is_heap ? result->allocations : 0);
      }
      the_cell.random().next();
      the_sample.set("alloc_max", least.alloc_max);
      the_sample.set("alloc_p99_999", least.alloc_p99_999);
      the_sample.set("free_max", least.free_max);
      the_sample.set("free_p99_999", least.free_p99_999);
      the_sample.set("peak_resident", static_cast<double>(least.peak_bytes));
    });
  }

  static void one_play(cell& the_cell, std::uint64_t full_bytes, const random_numbers& random,
                       play_result& into) {
    const bool survivors = the_cell.text("shape") == "survivors";
    into = {};
    const ending how = run_in_own_process(most_seconds, [&] {
      // Most blocks at once are those of the first range, 448 bytes on average.
      play<Source> one{survivors ? full_bytes / 4 * 3 : full_bytes, full_bytes / 400, random};
      survivors ? one.outlive() : one.change_sizes();
      one.report(into);
    });
    if (!how.forked) the_cell.refuse("process", "the system does not allow one more");
    if (how.exit_code != 0)
      the_cell.refuse("memory", "there was not enough for the tables of a play");
    the_cell.check("work", how.well() && into.live != 0 && (!is_heap || into.whole == into.live),
                   "signal {}, {} whole blocks of {}; {} calls judged, {} of them interrupted "
                   "by the scheduler, {} waited for something",
                   how.signal, into.whole, into.live, into.judged, into.interrupted, into.waited);
  }

  static play_result least_of(const play_result& one, const play_result& other) {
    play_result least = one;
    least.alloc_max = std::min(one.alloc_max, other.alloc_max);
    least.alloc_p99_999 = std::min(one.alloc_p99_999, other.alloc_p99_999);
    least.free_max = std::min(one.free_max, other.free_max);
    least.free_p99_999 = std::min(one.free_p99_999, other.free_p99_999);
    least.peak_bytes = std::min(one.peak_bytes, other.peak_bytes);
    return least;
  }
};

const experiment question{
    .id = "heap/worst_call",
    .question = "How long can one malloc or free take in a large heap whose sizes change?",
    .isolates =
        "The longest call of one thread, in a heap of 1 GiB that was not used before. Shape "
        "size_shift: blocks of 128 to 768 bytes are allocated until 1 GiB is live, random ones are "
        "freed until a quarter is left, then the next range, twice as large, takes their place; "
        "three ranges, up to 512 to 3072 bytes. Shape survivors: 768 MiB of 64-byte blocks, of "
        "which three quarters, chosen at random, are freed; judged are these frees and the mallocs "
        "of 2.5 to 8 KiB that follow.",
    .not_shown =
        "Threads that wait for each other, and what a background thread does at another time. "
        "Each figure is the least of several plays of the same calls, each in a new process. A "
        "long "
        "call that the allocator makes happens in all plays. An interrupt or a neighbour on the "
        "machine strikes another call each time, so the least of the maxima holds it only if it "
        "strikes in every play. The time in which the scheduler let others run is taken off, "
        "unless the thread waited by itself. empty_loop shows what is left of interrupts and of "
        "the clock: as many calls that do nothing. Differences at its level are not the "
        "allocator's. Of fewer than 100,000 calls p99.999 is the longest. The first write to a "
        "block, with its page fault, is not timed: it follows the call.",
    .parameters = {{"shape",
                    "which sizes follow on which",
                    {"size_shift", "survivors"},
                    {"size_shift", "survivors"}},
                   {"full_mib",
                    "requested bytes live at the peak; three quarters of it in survivors",
                    {1024},
                    {24},
                    "MiB",
                    4},
                   {"plays", "of the same calls, each in a process of its own", {2}, {2}}},
    .quantities = {{"alloc_max", "ns", better::lower, "the longest malloc"},
                   {"alloc_p99_999", "ns", better::lower, "99,999 of 100,000 took at most this"},
                   {"free_max", "ns", better::lower, "the longest free"},
                   {"free_p99_999", "ns", better::lower, "99,999 of 100,000 took at most this"},
                   heaps::peak_resident},
    .subjects =
        [] {
          auto all = heaps::subjects<measure>();
          all.push_back({"empty_loop", "as many calls that do nothing", measure<no_heap>::run});
          return all;
        }(),
    .baseline = heaps::baseline,
    .repeats = 1,
    .dropped_repeats = 0,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
