// Four kinds of objects in one sequence: a variant that is visited, or a base that is called.
//
// build: aligned_loops
#include <array>
#include <memory>
#include <variant>
#include <vector>

#include "sources/kinds.hpp"

namespace {

using namespace languages;

template <std::size_t kind>
struct alternative {
  std::uint64_t figure;
};

using variant = std::variant<alternative<0>, alternative<1>, alternative<2>, alternative<3>>;

variant variant_of(std::size_t kind, std::uint64_t figure) {
  switch (kind) {
    case 0:
      return alternative<0>{figure};
    case 1:
      return alternative<1>{figure};
    case 2:
      return alternative<2>{figure};
    default:
      return alternative<3>{figure};
  }
}

struct variants {
  explicit variants(const plan& the_plan) {
    for (std::size_t i = 0; i < objects; ++i) {
      all.push_back(variant_of(the_plan.kind[i], the_plan.figure[i]));
    }
  }
  [[nodiscard]] std::uint64_t expected(const plan& the_plan, std::uint64_t rounds) const noexcept {
    return the_plan.expected(rounds);
  }
  std::vector<variant> all;
};

struct visited : variants {
  using variants::variants;
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const {
    const auto does = [sum]<std::size_t kind>(const alternative<kind>& one) {
      return done_by<kind>(sum, one.figure);
    };
    return std::visit(does, all[i]);
  }
};

struct asked : variants {
  using variants::variants;
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const noexcept {
    if (const auto* one = std::get_if<0>(&all[i])) return done_by<0>(sum, one->figure);
    if (const auto* one = std::get_if<1>(&all[i])) return done_by<1>(sum, one->figure);
    if (const auto* one = std::get_if<2>(&all[i])) return done_by<2>(sum, one->figure);
    return done_by<3>(sum, std::get_if<3>(&all[i])->figure);
  }
};

struct base {
  explicit base(std::uint64_t held) noexcept : figure{held} {}
  virtual ~base() = default;
  [[nodiscard]] virtual std::uint64_t apply(std::uint64_t sum) const noexcept = 0;
  std::uint64_t figure;
};

template <std::size_t kind>
struct derived : base {
  using base::base;
  [[nodiscard]] std::uint64_t apply(std::uint64_t sum) const noexcept override {
    return done_by<kind>(sum, figure);
  }
};

/// Objects lie as the variants do: side by side, in order, of the same size.
struct hierarchy {
  explicit hierarchy(const plan& the_plan) : slots(objects) {
    for (std::size_t i = 0; i < objects; ++i) {
      all.push_back(make(slots[i].data(), the_plan.kind[i], the_plan.figure[i]));
    }
  }
  ~hierarchy() {
    for (base* each : all) std::destroy_at(each);
  }
  hierarchy(const hierarchy&) = delete;
  hierarchy& operator=(const hierarchy&) = delete;

  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const noexcept {
    return all[i]->apply(sum);
  }
  [[nodiscard]] std::uint64_t expected(const plan& the_plan, std::uint64_t rounds) const noexcept {
    return the_plan.expected(rounds);
  }

  struct alignas(base) slot : std::array<std::byte, sizeof(base)> {};

  static base* make(void* at, std::size_t kind, std::uint64_t figure) {
    switch (kind) {
      case 0:
        return ::new (at) derived<0>{figure};
      case 1:
        return ::new (at) derived<1>{figure};
      case 2:
        return ::new (at) derived<2>{figure};
      default:
        return ::new (at) derived<3>{figure};
    }
  }

  std::vector<slot> slots;
  std::vector<base*> all;
};

static_assert(sizeof(variant) == sizeof(base));

const experiment question{
    .id = "language/variant_vs_virtual",
    .question = "Is it faster to visit a variant or to call a virtual function?",
    .isolates =
        "65536 objects of four kinds, of the same size and side by side in both; each does "
        "something else to a running sum. In `rotating` order a predictor knows what comes, in "
        "`random` order it cannot.",
    .not_shown =
        "Alternatives of different sizes, which make every variant as large as the largest, and "
        "objects strewn over the heap, as those of a hierarchy often are. The virtual objects are "
        "reached through pointers, since that is how they are kept: one more load each. In random "
        "order the mispredicted jump is nearly all of it, for both. The report latency-lab does "
        "not say in "
        "which order its kinds came; at its speed they were predicted.",
    .parameters = {order, kind_items},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one object asked"},
                   processor_time},
    .subjects = {{"variant", "std::variant, std::visit", measure_kinds<visited>},
                 {"variant_get_if", "std::variant, std::get_if one after the other",
                  measure_kinds<asked>},
                 {"virtual", "virtual function", measure_kinds<hierarchy>},
                 empty_loop_of_kinds},
    .baseline = "virtual",
    .expectations = {{.says = "an order that cannot be predicted at most halves the speed of calls",
                      .quantity = rate_name,
                      .subject = "virtual",
                      .over = "virtual",
                      .parameters = {{"order", "random"}},
                      .over_parameters = {{"order", "rotating"}},
                      .at_most = 0.5}},
    .answers = {{.quantity = "throughput", .subject = "variant", .over = "virtual"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
