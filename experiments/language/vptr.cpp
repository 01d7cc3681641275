// What the pointer to a virtual table costs: in each object, and at each call.
//
// build: aligned_loops
#include <algorithm>
#include <vector>

#include "sources/numbers.hpp"

namespace {

using namespace languages;

struct plain {
  explicit plain(std::uint64_t number) noexcept : figure{number}, other{number} {}

  [[nodiscard]] std::uint64_t apply() const noexcept { return work_of(figure); }

  std::uint64_t figure;
  std::uint64_t other;
};

struct polymorphic {
  explicit polymorphic(std::uint64_t number) noexcept : figure{number}, other{number} {}
  polymorphic(const polymorphic&) = default;
  polymorphic& operator=(const polymorphic&) = default;
  virtual ~polymorphic() = default;
  [[nodiscard]] virtual std::uint64_t apply() const noexcept { return work_of(figure); }

  std::uint64_t figure;
  std::uint64_t other;
};

struct doubled final : polymorphic {
  using polymorphic::polymorphic;
  [[nodiscard]] std::uint64_t apply() const noexcept override { return work_of(figure) + figure; }
};

/// 16 and 24 bytes: 1 MiB and 1.5 MiB of objects.
constexpr std::size_t objects = 65'536;

std::vector<std::uint64_t> make_numbers(cell& the_cell) {
  std::vector<std::uint64_t> numbers(objects);
  for (auto& each : numbers) each = the_cell.random().next();
  return numbers;
}

template <class Loop>
void time_objects(cell& the_cell, std::size_t bytes, std::uint64_t expected, Loop&& loop) {
  const std::uint64_t rounds = std::max(the_cell.size("items") / objects, std::size_t{1});
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint64_t sum = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(rounds * objects, [&] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        sum += loop();
        clobber();
      }
    });
    the_sample.set(rate_name, millions_per_second(rounds * objects, elapsed_ns));
    the_sample.set("object_bytes", static_cast<double>(bytes));
    the_cell.check("work", sum == rounds * expected, "sum {}, expected {}", sum, rounds * expected);
  });
}

template <class Object>
void measure_scan(cell& the_cell) {
  const auto numbers = make_numbers(the_cell);
  const std::vector<Object> all(numbers.begin(), numbers.end());
  escape(all.data());
  std::uint64_t expected = 0;
  for (const std::uint64_t number : numbers) expected += number;
  time_objects(the_cell, sizeof(Object), expected, [&] {
    std::uint64_t sum = 0;
    for (const Object& each : all) sum += each.figure;
    return sum;
  });
}

template <class Object>
void measure_lives(cell& the_cell) {
  const auto numbers = make_numbers(the_cell);
  std::uint64_t expected = 0;
  for (const std::uint64_t number : numbers) expected += number;
  time_objects(the_cell, sizeof(Object), expected, [&] {
    std::uint64_t sum = 0;
    for (const std::uint64_t number : numbers) {
      const Object object{number};
      escape(&object);
      sum += object.figure;
    }
    return sum;
  });
}

void measure_direct(cell& the_cell) {
  const auto numbers = make_numbers(the_cell);
  const std::vector<plain> all(numbers.begin(), numbers.end());
  escape(all.data());
  std::uint64_t expected = 0;
  for (const std::uint64_t number : numbers) expected += work_of(number);
  time_objects(the_cell, sizeof(plain), expected, [&] {
    std::uint64_t sum = 0;
    for (const plain& each : all) {
      sum += each.apply();
      forget(sum);
    }
    return sum;
  });
}

/// One class, or two in turn; through pointers to objects that lie side by side.
template <bool mixed>
void measure_virtual(cell& the_cell) {
  const auto numbers = make_numbers(the_cell);
  const std::vector<polymorphic> all(numbers.begin(), numbers.end());
  const std::vector<doubled> others(numbers.begin(), numbers.end());
  std::vector<const polymorphic*> reached(objects);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < objects; ++i) {
    const bool other = mixed && i % 2 == 1;
    reached[i] = other ? static_cast<const polymorphic*>(&others[i]) : &all[i];
    expected += work_of(numbers[i]) + (other ? numbers[i] : 0);
  }
  escape(reached.data());
  time_objects(the_cell, sizeof(polymorphic), expected, [&] {
    std::uint64_t sum = 0;
    for (const polymorphic* each : reached) {
      sum += each->apply();
      forget(sum);
    }
    return sum;
  });
}

const experiment question{
    .id = "language/vptr",
    .question = "What does it cost that objects have virtual functions?",
    .isolates =
        "Two classes with the same two numbers. One has virtual functions, so each of its objects "
        "begins with a pointer to the table of its class. The scans read one number of each of "
        "65,536 objects. The lives make and destroy one object after the other. The calls are of "
        "one small function.",
    .not_shown =
        "Calls that cannot be predicted (language/variant_vs_virtual), and the search for a class "
        "at run time (language/rtti). The later revision of the report latency-lab has "
        "these subjects.",
    .parameters = {items},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one object"},
                   {"object_bytes", "bytes", better::lower, "size of an object"},
                   processor_time},
    .subjects = {{"scan_plain", "a number of each object", measure_scan<plain>},
                 {"scan_polymorphic", "the same, objects with a table", measure_scan<polymorphic>},
                 {"direct", "a call without a table", measure_direct},
                 {"virtual_one", "a virtual call, one class", measure_virtual<false>},
                 {"virtual_two", "a virtual call, two classes in turn", measure_virtual<true>},
                 {"lives_plain", "an object made and destroyed", measure_lives<plain>},
                 {"lives_polymorphic", "the same, objects with a table",
                  measure_lives<polymorphic>}},
    .baseline = "scan_plain",
    .expectations = {{.says = "a scan of objects with a table is at most as fast as one without",
                      .quantity = rate_name,
                      .subject = "scan_polymorphic",
                      .over = "scan_plain",
                      .at_most = 1.05},
                     {.says = "a virtual call is at most as fast as a direct one",
                      .quantity = rate_name,
                      .subject = "virtual_one",
                      .over = "direct",
                      .at_most = 1.05}},
    .answers = {{.quantity = "throughput", .subject = "scan_polymorphic", .over = "scan_plain"},
                {.quantity = "throughput", .subject = "virtual_one", .over = "direct"},
                {.quantity = "throughput", .subject = "virtual_two", .over = "virtual_one"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
