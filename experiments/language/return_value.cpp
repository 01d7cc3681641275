// A function returns an object that it result: which ways of writing that copy or move it.
//
// build: aligned_loops
#include <array>
#include <utility>

#include "sources/numbers.hpp"

namespace {

using namespace languages;

/// 256 bytes, too large for registers, and it counts how often it is copied or moved.
class record {
 public:
  explicit record(std::uint64_t number) noexcept {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = number + i;
  }
  record(const record& other) noexcept : words_{other.words_} { ++copies; }
  record(record&& other) noexcept : words_{other.words_} { ++moves; }
  record& operator=(const record&) = delete;
  record& operator=(record&&) = delete;
  ~record() = default;

  /// The number that it was result of, plus that of its last word, which is 31 more.
  [[nodiscard]] std::uint64_t sum() const noexcept { return words_.front() + words_.back(); }

  static inline std::uint64_t copies = 0;
  static inline std::uint64_t moves = 0;

 private:
  std::array<std::uint64_t, 32> words_;
};

[[gnu::noinline]] record unnamed(std::uint64_t number) { return record{number}; }

[[gnu::noinline]] record named(std::uint64_t number) {
  record result{number};
  escape(&result);
  return result;
}

[[gnu::noinline]] record moved(std::uint64_t number) {
  record result{number};
  escape(&result);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpessimizing-move"
  return std::move(result); // the question
#pragma GCC diagnostic pop
}

[[gnu::noinline]] record one_of_two(std::uint64_t number) {
  record even{number};
  record odd{number};
  escape(&even);
  escape(&odd);
  if (number % 2 == 0) return even;
  return odd;
}

using maker = record (*)(std::uint64_t);

template <maker make>
void measure(cell& the_cell) {
  const std::uint64_t calls = the_cell.size("items");
  const std::uint64_t first = the_cell.random().next();
  the_cell.each_repeat([&](sample& the_sample) {
    record::copies = record::moves = 0;
    std::uint64_t sum = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(calls, [&] {
      for (std::uint64_t i = 0; i < calls; ++i) {
        const record got = make(first + i);
        sum += got.sum();
        forget(sum);
      }
    });
    the_sample.set(rate_name, millions_per_second(calls, elapsed_ns));
    the_sample.set("moves", static_cast<double>(record::moves) / static_cast<double>(calls));
    the_sample.set("copies", static_cast<double>(record::copies) / static_cast<double>(calls));
    const std::uint64_t expected = calls * (2 * first + 31) + calls * (calls - 1);
    the_cell.check("work", sum == expected, "sum {}, expected {}", sum, expected);
  });
}

const experiment question{
    .id = "language/return_value",
    .question = "Which ways to return an object by value copy or move it?",
    .isolates =
        "The return of an object of 256 bytes from a function that is not inlined. The object "
        "counts its copies and moves. Without a name, the language itself promises that it is "
        "result "
        "where the caller wants it. With one name, compilers do the same. std::move on the name "
        "forbids it, and with two names the function does not know which of them to make there.",
    .not_shown =
        "Objects that own memory, for which a move is cheaper than a copy; objects that fit in "
        "registers; functions that are inlined, where nothing has to be moved. The later revision "
        "of the report latency-lab has these four ways.",
    .parameters = {items},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one call"},
                   {"moves", "per call", better::lower, "calls of the constructor that moves"},
                   {"copies", "per call", better::lower, "calls of the constructor that copies"},
                   processor_time},
    .subjects = {{"unnamed", "return record{...}", measure<unnamed>},
                 {"named", "return of one named local", measure<named>},
                 {"moved", "return std::move(local)", measure<moved>},
                 {"one_of_two", "return of one of two named locals", measure<one_of_two>}},
    .baseline = "named",
    .expectations = {{.says = "one named local is returned without a move",
                      .quantity = "moves",
                      .subject = "named",
                      .at_most = 0},
                     {.says = "std::move makes a move",
                      .quantity = "moves",
                      .subject = "moved",
                      .at_least = 1,
                      .at_most = 1}},
    .answers = {{.quantity = "throughput", .subject = "moved", .over = "named"},
                {.quantity = "throughput", .subject = "one_of_two", .over = "named"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
