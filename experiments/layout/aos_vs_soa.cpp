// The same items as one array of structures, and as one array for each field.
//
// build again: O3_native = -O3 -march=native
// build again: clang_O3_native = clang -O3 -march=native
#include <algorithm>
#include <type_traits>
#include <utility>

#include "harness/builds.hpp"
#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/rate.hpp"

namespace {

using namespace heapwise::bench;

/// All numbers are small multiples of a power of two, so every sum is exact, in whatever order and
/// with however many at a time it is computed.
constexpr float step = 0.25F;

/// What item `index` starts with, in its field `field`: whole, 1 to 31.
float start_of(std::size_t index, std::size_t field) {
  return static_cast<float>(1 + (index * 7 + field * 11) % 31);
}

template <std::size_t field_count>
struct structure {
  float field[field_count];
};

/// Field k of item i is `items[i].field[k]`.
template <std::size_t field_count>
class in_structures {
 public:
  static constexpr std::size_t fields = field_count;

  explicit in_structures(std::size_t count) : items_{count} {}

  [[nodiscard]] float& at(std::size_t index, std::size_t field) const {
    return items_[index].field[field];
  }
  [[nodiscard]] structure<field_count>* items() const { return items_.data(); }

 private:
  mapped_array<structure<field_count>> items_;
};

/// Field k of item i is `array(k)[i]`. Each array begins ten lines further into a page than the one
/// before: else all would meet in one set of the cache, and processors that compare the low bits of
/// addresses would take a load of one for a store to another.
template <std::size_t field_count>
class in_arrays {
 public:
  static constexpr std::size_t fields = field_count;

  explicit in_arrays(std::size_t count)
      : pitch_{(count + page - 1) / page * page + shift}, numbers_{field_count * pitch_} {}

  [[nodiscard]] float& at(std::size_t index, std::size_t field) const {
    return array(field)[index];
  }
  [[nodiscard]] float* array(std::size_t field) const { return numbers_.data() + field * pitch_; }

 private:
  static constexpr std::size_t page = 1024; // floats of 4 KiB
  static constexpr std::size_t shift = 160; // floats of ten lines

  std::size_t pitch_;
  mapped_array<float> numbers_;
};

/// Calls `use(k)` for each constant k below `count`: a loop that the compiler cannot leave a loop,
/// so that no layout has to look up its own arrays in memory.
template <std::size_t count, class Use>
[[gnu::always_inline]] inline void for_fields(Use&& use) {
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (use(std::integral_constant<std::size_t, k>{}), ...);
  }(std::make_index_sequence<count>{});
}

/// Field k grows by a quarter of field k + `speeds`, for k below `positions`.
template <std::size_t positions, std::size_t speeds, std::size_t field_count>
[[gnu::noinline]] void advance(const in_structures<field_count>& data, std::size_t count) {
  structure<field_count>* const items = data.items();
  for (std::size_t i = 0; i < count; ++i) {
    for_fields<positions>([&](auto k) { items[i].field[k] += items[i].field[k + speeds] * step; });
  }
}

/// As advance over structures, but no instruction handles two fields: a clobber stands between.
template <std::size_t positions, std::size_t speeds, std::size_t field_count>
[[gnu::noinline]] void advance_one_by_one(const in_structures<field_count>& data,
                                          std::size_t count) {
  structure<field_count>* const items = data.items();
  for (std::size_t i = 0; i < count; ++i) {
    for_fields<positions>([&](auto k) {
      items[i].field[k] += items[i].field[k + speeds] * step;
      clobber();
    });
  }
}

template <std::size_t positions, std::size_t speeds, std::size_t field_count>
[[gnu::noinline]] void advance(const in_arrays<field_count>& data, std::size_t count) {
  float* place[positions];
  const float* speed[positions];
  for_fields<positions>([&](auto k) {
    place[k] = data.array(k);
    speed[k] = data.array(k + speeds);
  });
  for (std::size_t i = 0; i < count; ++i) {
    for_fields<positions>([&](auto k) { place[k][i] += speed[k][i] * step; });
  }
}

using four_floats [[gnu::vector_size(16), gnu::may_alias]] = float;

/// As advance over arrays, four items in one instruction, which structures do not allow.
template <std::size_t positions, std::size_t speeds, std::size_t field_count>
[[gnu::noinline]] void advance_four(const in_arrays<field_count>& data, std::size_t count) {
  for (std::size_t k = 0; k < positions; ++k) {
    auto* const place = reinterpret_cast<four_floats*>(data.array(k));
    const auto* const speed = reinterpret_cast<const four_floats*>(data.array(k + speeds));
    for (std::size_t i = 0; i < count / 4; ++i) place[i] += speed[i] * step;
  }
}

/// The loop of `advance` without the fields.
[[gnu::noinline]] void advance_nothing(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) asm volatile("" : "+r"(i));
}

/// How many of the items' fields were moved to where `passes` passes move them.
template <std::size_t positions, std::size_t speeds, class Data>
std::size_t count_right(const Data& data, std::size_t count, std::size_t passes) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < positions; ++k) {
      const float way = static_cast<float>(passes) * step * start_of(i, k + speeds);
      right += data.at(i, k) == start_of(i, k) + way ? 1 : 0;
    }
  }
  return right;
}

template <class Data>
void write_starts(const Data& data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < Data::fields; ++k) data.at(i, k) = start_of(i, k);
  }
}

/// Passes over all items that make up the timed region.
std::size_t passes_of(const cell& the_cell, std::size_t count) {
  return std::max<std::size_t>(1, the_cell.size("updates") / count);
}

/// What a sum of two fields reads: every pair adds up to 0, and every 1024th to 1, so that no
/// number of items makes the sum of all inexact.
constexpr std::size_t pairs_of_one = 1024;

float second_of(std::size_t index) {
  return (index % pairs_of_one == 0 ? 1.0F : 0.0F) - start_of(index, 0);
}

template <std::size_t field_count>
[[gnu::noinline]] float sum_of_two(const in_structures<field_count>& data, std::size_t count) {
  const structure<field_count>* const items = data.items();
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += items[i].field[0] + items[i].field[1];
  return sum;
}

template <std::size_t field_count>
[[gnu::noinline]] float sum_of_two(const in_arrays<field_count>& data, std::size_t count) {
  const float* const first = data.array(0);
  const float* const second = data.array(1);
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += first[i] + second[i];
  return sum;
}

enum class way { structures, structures_one_by_one, arrays, arrays_by_four, nothing };

template <way chosen, std::size_t positions, std::size_t speeds, std::size_t field_count>
void measure_fields(cell& the_cell) {
  constexpr bool has_structures = chosen == way::structures || chosen == way::structures_one_by_one;
  using data_type =
      std::conditional_t<has_structures, in_structures<field_count>, in_arrays<field_count>>;
  const std::size_t count = the_cell.size("items") / 4 * 4;
  const std::size_t passes = passes_of(the_cell, count);
  const data_type data{count};
  the_cell.each_repeat([&](sample& the_sample) {
    write_starts(data, count);
    const std::uint64_t elapsed_ns = the_sample.measure(passes * count, [&] {
      for (std::size_t pass = 0; pass < passes; ++pass) {
        if constexpr (chosen == way::nothing) {
          advance_nothing(count);
        } else if constexpr (chosen == way::arrays_by_four) {
          advance_four<positions, speeds>(data, count);
        } else if constexpr (chosen == way::structures_one_by_one) {
          advance_one_by_one<positions, speeds>(data, count);
        } else {
          advance<positions, speeds>(data, count);
        }
        clobber();
      }
    });
    the_sample.set("items", millions_per_second(passes * count, elapsed_ns));
    const std::size_t done = chosen == way::nothing ? 0 : passes;
    const std::size_t right = count_right<positions, speeds>(data, count, done);
    the_cell.check("work", right == positions * count,
                   "{} of {} fields are where {} passes move them", right, positions * count, done);
  });
}

/// Reads two fields of each item and writes none.
template <way chosen, std::size_t field_count>
void measure_sums(cell& the_cell) {
  if constexpr (chosen == way::structures || chosen == way::arrays) {
    using data_type = std::conditional_t<chosen == way::structures, in_structures<field_count>,
                                         in_arrays<field_count>>;
    const std::size_t count = the_cell.size("items") / pairs_of_one * pairs_of_one;
    const std::size_t passes = passes_of(the_cell, std::max<std::size_t>(count, 1));
    const data_type data{count};
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < field_count; ++k) data.at(i, k) = start_of(i, k);
      data.at(i, 1) = second_of(i);
    }
    the_cell.each_repeat([&](sample& the_sample) {
      float sum = 0;
      const std::uint64_t elapsed_ns = the_sample.measure(passes * count, [&] {
        for (std::size_t pass = 0; pass < passes; ++pass) {
          sum = sum_of_two(data, count);
          clobber();
        }
      });
      the_sample.set("items", millions_per_second(passes * count, elapsed_ns));
      const std::size_t expected = count / pairs_of_one;
      the_cell.check("work", sum == static_cast<float>(expected), "the sum is {}, expected {}",
                     static_cast<std::int64_t>(sum), expected);
    });
  } else {
    the_cell.refuse("subject", "it reads and writes fields, and these items are only read");
  }
}

template <way chosen>
void measure(cell& the_cell) {
  if (the_cell.text("fields") == "read_two_of_four") return measure_sums<chosen, 4>(the_cell);
  if (the_cell.text("fields") == "read_two_of_many") return measure_sums<chosen, 16>(the_cell);
  if (the_cell.text("fields") == "all") {
    measure_fields<chosen, 3, 3, 6>(the_cell);
  } else {
    measure_fields<chosen, 1, 1, 16>(the_cell);
  }
}

constexpr std::int64_t in_cache = 512;
constexpr std::int64_t in_memory = 1 << 20;

const experiment question{
    .id = "layout/aos_vs_soa",
    .question = "Is an array for each field faster than one array of structures?",
    .isolates =
        "What travels beside the fields that are used. all: a structure of 6 floats, and each "
        "update uses all of them (three places, three speeds). two_of_many: a structure of 16 "
        "floats, a whole cache line, and each update uses two of them. 512 items stay in the "
        "caches, a million do not. soa_by_four does the work of soa with four items in an "
        "instruction: what the layout allows in addition, once the compiler or the programmer "
        "makes use of it.",
    .not_shown =
        "Random access, where a structure brings all fields of an item at once and arrays cost a "
        "cache miss for each field. Where all fields are used in the caches, soa is slower than "
        "aos: GCC joins neighbouring fields of a structure in one instruction, and so loads and "
        "stores two of three at once, while fields of one item in arrays are not neighbours. "
        "aos_one_by_one forbids that, and aos loses its lead. With -O3 GCC makes soa of two fields "
        "what soa_by_four is; with three pairs of arrays it would have to ask too often whether "
        "they overlap. The report latency-lab writes nothing: it adds up two fields of each "
        "item, of a structure of 4 floats or of 16 (read_two_of_four, read_two_of_many). As no "
        "compiler may change the order of additions of floats, each waits for the one before, and "
        "that hides what the memory costs.",
    .parameters =
        {{"fields",
          "used by an update; or read and added up",
          {"all", "two_of_many"},
          {"all", "two_of_many"},
          "",
          1,
          {"all", "two_of_many", "read_two_of_four", "read_two_of_many"}},
         {"items", "updated in a pass", {in_cache, in_memory}, {in_cache, 1 << 12}, "", 4},
         {"updates", "of items in the timed region, whole passes", {8 << 20}, {1 << 15}},
         builds()},
    .quantities = {{"items", "M/s", better::higher, "millions of items updated in a second"},
                   processor_time},
    .subjects = {{"aos", "an array of structures", measure<way::structures>},
                 {"aos_one_by_one", "the same, one field in an instruction",
                  measure<way::structures_one_by_one>},
                 {"soa", "a structure of arrays", measure<way::arrays>},
                 {"soa_by_four", "the same, four items in an instruction",
                  measure<way::arrays_by_four>},
                 {"empty_loop", "the loop without the fields", measure<way::nothing>}},
    .baseline = "aos",
    .repeats = 9,
    .expectations = {{.says = "two fields of sixteen are read faster from arrays of their own",
                      .quantity = "items",
                      .subject = "soa",
                      .over = "aos",
                      .parameters = {{"fields", "two_of_many"}, {"items", in_memory}},
                      .at_least = 1.3}},
    .answers = {{.quantity = "items", .subject = "soa", .over = "aos"},
                {.quantity = "items",
                 .subject = "aos_one_by_one",
                 .over = "soa",
                 .parameters = {{"fields", "all"}, {"items", in_cache}}}},
    .yardsticks = {"aos_one_by_one", "empty_loop"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv, this_build); }
