// Reading a number of a base class that an object has once, although two of its bases bring it.
//
// build: aligned_loops
#include <algorithm>
#include <vector>

#include "sources/numbers.hpp"

namespace {

using namespace languages;

struct shared_part {
  std::uint64_t figure = 0;
};

struct flat {
  std::uint64_t left = 1;
  std::uint64_t right = 2;
  std::uint64_t payload = 3;
  std::uint64_t figure = 0;
};

/// A diamond without virtual bases: the shared part is in it twice.
struct left_copy : shared_part {
  std::uint64_t left = 1;
};
struct right_copy : shared_part {
  std::uint64_t right = 2;
};
struct two_copies : left_copy, right_copy {
  std::uint64_t payload = 3;
};

struct left_way : virtual shared_part {
  std::uint64_t left = 1;
};
struct right_way : virtual shared_part {
  std::uint64_t right = 2;
};
struct diamond final : left_way, right_way {
  std::uint64_t payload = 3;
};
/// Its shared part lies elsewhere, so that the way to it cannot be known from a left_way.
struct wide_diamond final : left_way, right_way {
  std::uint64_t payload[4] = {3, 3, 3, 3};
};

constexpr std::size_t objects = 1 << 18;

std::vector<std::uint64_t> make_numbers(cell& the_cell) {
  std::vector<std::uint64_t> numbers(objects);
  for (auto& each : numbers) each = the_cell.random().next();
  return numbers;
}

/// Not inlined: the loop knows no more of the object than its type.
template <class View>
[[gnu::noinline]] std::uint64_t read(View object) {
  return object->figure + object->left;
}

template <class View>
void time_views(cell& the_cell, std::size_t bytes, const std::vector<View>& views,
                std::uint64_t expected) {
  const std::uint64_t rounds = std::max(the_cell.size("items") / objects, std::size_t{1});
  escape(views.data());
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint64_t sum = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(rounds * objects, [&] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        for (const View each : views) sum += read(each);
        clobber();
      }
    });
    the_sample.set(rate_name, millions_per_second(rounds * objects, elapsed_ns));
    the_sample.set("object_bytes", static_cast<double>(bytes));
    the_cell.check("work", sum == rounds * expected, "sum {}, expected {}", sum, rounds * expected);
  });
}

/// Pointers of type `View` to objects of class `Object`.
template <class Object, class View>
void measure(cell& the_cell) {
  const auto numbers = make_numbers(the_cell);
  std::vector<Object> all(objects);
  std::vector<View> views(objects);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < objects; ++i) {
    views[i] = &all[i];
    const_cast<std::uint64_t&>(views[i]->figure) = numbers[i];
    expected += numbers[i] + 1;
  }
  time_views(the_cell, sizeof(Object), views, expected);
}

void measure_mixed(cell& the_cell) {
  const auto numbers = make_numbers(the_cell);
  std::vector<diamond> all(objects / 2);
  std::vector<wide_diamond> others(objects / 2);
  std::vector<const left_way*> views(objects);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < objects; ++i) {
    left_way* const view =
        i % 2 == 0 ? static_cast<left_way*>(&all[i / 2]) : static_cast<left_way*>(&others[i / 2]);
    view->figure = numbers[i];
    expected += numbers[i] + 1;
    views[i] = view;
  }
  time_views(the_cell, sizeof(wide_diamond), views, expected);
}

const experiment question{
    .id = "language/virtual_bases",
    .question = "What does it cost to read a member of a virtual base?",
    .isolates =
        "Two numbers of each of 262,144 objects, read through pointers by a function that is not "
        "inlined. Where the first lies is "
        "known to the compiler (flat, base), or is looked up in the table of the object's class "
        "(virtual_base): two loads more, each of which needs the one before.",
    .not_shown =
        "Construction of objects with virtual bases, which is longer, and functions that are "
        "called through them. `complete` has pointers to the most derived class, which is "
        "final, so that the compiler knows the way. The later revision of the report "
        "latency-lab has these subjects.",
    .parameters = {items},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one object"},
                   {"object_bytes", "bytes", better::lower,
                    "size of an object; of the larger one, if there are two"},
                   processor_time},
    .subjects = {{"flat", "a member of the object", measure<flat, const flat*>},
                 {"base", "a member of a base", measure<two_copies, const left_copy*>},
                 {"complete", "a virtual base, through the whole object",
                  measure<diamond, const diamond*>},
                 {"virtual_base", "a virtual base, through one of its bases",
                  measure<diamond, const left_way*>},
                 {"virtual_base_mixed", "the same, objects of two classes in turn", measure_mixed}},
    .baseline = "base",
    .expectations = {{.says = "a member of a virtual base is at most as fast as one of a base",
                      .quantity = rate_name,
                      .subject = "virtual_base",
                      .over = "base",
                      .at_most = 1.05}},
    .answers = {{.quantity = "throughput", .subject = "virtual_base", .over = "base"},
                {.quantity = "throughput",
                 .subject = "virtual_base_mixed",
                 .over = "virtual_base"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
