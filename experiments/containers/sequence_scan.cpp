// Adding up all elements of a vector, a deque and a list.
//
// build: aligned_loops
// build again: O3_native = -O3 -march=native
// build again: clang_O3_native = clang -O3 -march=native
#include <cstddef>
#include <deque>
#include <list>
#include <vector>

#include "harness/builds.hpp"
#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/rate.hpp"

namespace {

using namespace heapwise::bench;

template <class Number>
using numbers = mapped_array<Number>;

template <class Container>
struct built {
  explicit built(cell&, const numbers<typename Container::value_type>& from)
      : container(from.begin(), from.end()) {}
  static constexpr std::size_t slower = 1;
  Container container;
};

/// A list whose order has nothing to do with where its nodes lie: what a list becomes that is
/// inserted into and removed from for long.
template <class Container>
struct scattered {
  explicit scattered(cell& the_cell, const numbers<typename Container::value_type>& from)
      : container(from.begin(), from.end()) {
    std::vector<typename Container::iterator> order;
    for (auto each = container.begin(); each != container.end(); ++each) order.push_back(each);
    the_cell.random().shuffle(std::span{order});
    for (const auto& each : order) container.splice(container.end(), container, each);
  }
  static constexpr std::size_t slower = 16; // fewer passes for the time of the others
  Container container;
};

template <class Container>
[[gnu::noinline]] std::uint64_t sum_of(const Container& container) {
  std::uint64_t sum = 0;
  for (const auto each : container) sum += each;
  return sum;
}

template <class Built>
void measure_of(cell& the_cell) {
  using number = typename decltype(Built::container)::value_type;
  const numbers<number> from{the_cell.size("elements")};
  std::uint64_t expected = 0;
  for (auto& each : from) expected += (each = static_cast<number>(the_cell.random().next()));
  const std::uint64_t items = the_cell.size("items") / Built::slower;
  const std::uint64_t rounds = std::max(items / from.size(), std::uint64_t{1});
  const Built built{the_cell, from};
  escape(&built.container);
  measure_rate(the_cell, rounds * from.size(), expected * rounds, [&] {
    std::uint64_t sum = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      sum += sum_of(built.container);
      clobber();
    }
    return sum;
  });
}

template <template <class> class Built, template <class...> class Container>
void measure(cell& the_cell) {
  if (the_cell.size("bytes") == sizeof(std::uint64_t)) {
    return measure_of<Built<Container<std::uint64_t>>>(the_cell);
  }
  measure_of<Built<Container<std::uint32_t>>>(the_cell);
}

void measure_loop(cell& the_cell) {
  const std::uint64_t items = the_cell.size("items");
  measure_rate(the_cell, items, items, [&] {
    std::uint64_t done = 0;
    for (; done < items; ++done) forget(done);
    return done;
  });
}

constexpr std::int64_t in_cache = 4096;
constexpr std::int64_t beyond = 131'072;

expectation at_most(const char* says, const char* subject, const char* over, double bound) {
  return {.says = says,
          .quantity = rate_name,
          .subject = subject,
          .over = over,
          .parameters = {{"elements", beyond}},
          .at_most = bound};
}

const experiment question{
    .id = "containers/sequence_scan",
    .question = "How fast are all elements of a sequence read, one after the other?",
    .isolates =
        "One pass after another over the same numbers, which are added up: one piece of "
        "memory, pieces of 512 bytes, or a node for each element.",
    .not_shown =
        "Insertion, which is what lists are for. With -O2 GCC 12 makes no vector instructions of a "
        "loop whose length it does not know, so a vector is no faster than a deque; in build "
        "O3_native it does so for the vector alone, as in the report latency-lab. `list` was "
        "filled once, so that its nodes lie side by side in the "
        "order of the list: the best that a list can be. `list_scattered` has the same nodes in "
        "random order. The report latency-lab has a million numbers of 8 bytes (elements=1048576, "
        "bytes=8), so that its list is larger than most caches.",
    .parameters = {{"elements", "of the sequence", {in_cache, beyond}, {in_cache}},
                   {"items", "elements read in the timed region", {32 * beyond}, {65'536}},
                   {"bytes", "of a number: 4 or 8", {4}, {4}, "bytes", 4},
                   builds()},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one element"}, processor_time},
    .subjects = {{"vector", "std::vector", measure<built, std::vector>},
                 {"deque", "std::deque", measure<built, std::deque>},
                 {"list", "std::list, nodes in order", measure<built, std::list>},
                 {"list_scattered", "std::list, nodes in random order",
                  measure<scattered, std::list>},
                 {"empty_loop", "a loop of as many steps, nothing in it", measure_loop}},
    .baseline = "vector",
    .repeats = 16,
    .expectations = {{.says = "with vector instructions a vector is twice as fast as a deque",
                      .quantity = rate_name,
                      .subject = "vector",
                      .over = "deque",
                      .parameters = {{"build", "O3_native"}},
                      .at_least = 2},
                     at_most("a list is at most half as fast as a vector", "list", "vector", 0.5),
                     at_most("a list in random order is at most half as fast as one in order",
                             "list_scattered", "list", 0.5)},
    .answers = {{.quantity = "throughput", .subject = "deque", .over = "vector"},
                {.quantity = "throughput",
                 .subject = "list",
                 .over = "vector",
                 .parameters = {{"elements", 131072}}},
                {.quantity = "throughput",
                 .subject = "list_scattered",
                 .over = "vector",
                 .parameters = {{"elements", 131072}}}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv, this_build); }
