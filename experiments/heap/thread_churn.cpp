// Threads that live shortly, and blocks that outlive them.
#include <array>
#include <thread>

#include "harness/memory/mapped_array.hpp"
#include "sources/marks.hpp"
#include "sources/quantities.hpp"
#include "sources/request_sizes.hpp"
#include "sources/sources.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::size_t survival = 10; ///< every tenth block outlives its thread
constexpr std::size_t places = 128;  ///< threads that start before a dead one's blocks are freed
constexpr std::size_t most_at_once = 16;

struct survivor {
  void* block;
  std::size_t bytes;
  unsigned char mark;
};

/// The blocks of threads that are gone, on a shelf that is emptied where it is needed again.
class shelf {
 public:
  explicit shelf(std::size_t blocks_each)
      : room_{blocks_each / survival + 1}, items_{places * room_} {}

  [[nodiscard]] survivor* of(std::size_t thread) const noexcept {
    return items_.data() + thread % places * room_;
  }

  /// Frees what that thread's place holds; returns how many of the blocks were whole.
  template <class Source>
  std::size_t clear(Source& source, std::size_t thread) const {
    std::size_t whole = 0;
    for (survivor* each = of(thread); each->block != nullptr; ++each) {
      whole += heaps::is_marked(each->block, each->bytes, each->mark) ? 1 : 0;
      source.deallocate(each->block, each->bytes);
      each->block = nullptr;
    }
    return whole;
  }

 private:
  std::size_t room_; // one more than ever survive: the end is a null
  mapped_array<survivor> items_;
};

/// What a thread does: takes its blocks, frees most, leaves the others on the shelf.
template <class Source>
void live(std::size_t thread, std::size_t blocks, const heaps::request_sizes& sizes,
          void** blocks_of_thread, survivor* left) {
  Source source;
  const std::size_t first = thread * blocks;
  for (std::size_t i = 0; i < blocks; ++i) {
    blocks_of_thread[i] = source.allocate(sizes.of(first + i));
    heaps::mark(blocks_of_thread[i], sizes.of(first + i), heaps::mark_of(first + i));
  }
  for (std::size_t i = 0; i < blocks; ++i) {
    if (i % survival == 0) {
      *left++ = {blocks_of_thread[i], sizes.of(first + i), heaps::mark_of(first + i)};
    } else {
      source.deallocate(blocks_of_thread[i], sizes.of(first + i));
    }
  }
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const std::size_t at_once = the_cell.size("threads");
    if (at_once > most_at_once) the_cell.refuse("threads", "at most 16 threads live at once");
    const std::size_t lives = the_cell.size("lives") / at_once * at_once;
    if (lives == 0) the_cell.refuse("lives", "fewer than the threads that are to live together");
    const std::size_t blocks = the_cell.size("blocks");
    const heaps::request_sizes sizes{rl_small, the_cell.random()};
    const shelf left{blocks};
    const mapped_array<void*> tables{most_at_once * blocks};
    const std::size_t expected = lives * ((blocks + survival - 1) / survival);
    resident_meter meter;
    the_cell.each_repeat([&](sample& the_sample) {
      Source source;
      std::size_t whole = 0;
      meter.restart_peak();
      the_sample.time("thread", lives, [&] {
        for (std::size_t first = 0; first < lives; first += at_once) {
          wave(first, at_once, blocks, sizes, tables, left);
          const std::size_t oldest = first + at_once; // whose places the next wave needs
          for (std::size_t i = 0; i < at_once; ++i) whole += left.clear(source, oldest + i);
        }
        for (std::size_t i = 0; i < places; ++i) whole += left.clear(source, i);
      });
      the_sample.set_processor_time(lives);
      the_sample.set("resident_after", static_cast<double>(meter.now()));
      heaps::set_peak(the_sample, meter);
      the_cell.check("work", whole == expected, "{} whole blocks of {} outlived their threads",
                     whole, expected);
      the_cell.expect_calls(lives * blocks);
    });
  }

  static void wave(std::size_t first, std::size_t at_once, std::size_t blocks,
                   const heaps::request_sizes& sizes, const mapped_array<void*>& tables,
                   const shelf& left) {
    std::array<std::thread, most_at_once> running;
    for (std::size_t i = 0; i < at_once; ++i) {
      running[i] = std::thread{[&, i] {
        live<Source>(first + i, blocks, sizes, tables.data() + i * blocks, left.of(first + i));
      }};
    }
    for (std::size_t i = 0; i < at_once; ++i) running[i].join();
  }
};

const experiment question{
    .id = "heap/thread_churn",
    .question = "What does an allocator add to the life of a short thread?",
    .isolates =
        "Making a thread's cache and taking it apart: each thread takes some blocks of rl_small, "
        "frees nine of ten, and ends. The others are freed by the main thread when some 128 more "
        "have started.",
    .not_shown =
        "The start and end of a thread without malloc, which is the larger part of the figure and "
        "the same for all. Threads that do much: there the start hardly counts.",
    .parameters = {{"threads", "that live together", {2}, {2}},
                   {"lives", "threads that start and end in all", {2000}, {160}},
                   {"blocks", "that each takes", {200}, {100}}},
    .quantities = {{"thread", "ns/op", better::lower, "from one thread's start to the next one's"},
                   processor_time,
                   {"resident_after", "bytes", better::lower,
                    "what stays resident when all threads have ended and all blocks are freed"},
                   heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 3,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
