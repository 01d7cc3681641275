// Several kinds of objects in one sequence: a variant that is visited, or a base that is called.
//
// build: aligned_loops
#include <array>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "sources/kinds.hpp"

namespace {

using namespace languages;

template <std::size_t kind>
struct alternative {
  std::uint64_t figure;
};

template <class Kinds>
struct variant_of_kinds;
template <std::size_t... kind>
struct variant_of_kinds<std::index_sequence<kind...>> {
  using type = std::variant<alternative<kind>...>;
  static type make(std::size_t which, std::uint64_t figure) {
    type result;
    ((which == kind ? void(result = alternative<kind>{figure}) : void()), ...);
    return result;
  }
};

template <std::size_t count>
struct variants {
  using every = variant_of_kinds<std::make_index_sequence<count>>;
  explicit variants(const plan& the_plan) {
    for (std::size_t i = 0; i < the_plan.size(); ++i) {
      all.push_back(every::make(the_plan.kind[i], the_plan.figure[i]));
    }
  }
  [[nodiscard]] std::uint64_t expected(const plan& the_plan, std::uint64_t rounds) const noexcept {
    return the_plan.expected(rounds);
  }
  std::vector<typename every::type> all;
};

template <std::size_t count>
struct visited : variants<count> {
  using variants<count>::variants;
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const {
    const auto does = [sum]<std::size_t kind>(const alternative<kind>& one) {
      return done_by<kind>(sum, one.figure);
    };
    return std::visit(does, this->all[i]);
  }
};

template <std::size_t count>
struct asked : variants<count> {
  using variants<count>::variants;
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const noexcept {
    return ask<0>(this->all[i], sum);
  }

 private:
  template <std::size_t kind, class Variant>
  static std::uint64_t ask(const Variant& one, std::uint64_t sum) noexcept {
    const auto* is = std::get_if<kind>(&one);
    if constexpr (kind + 1 < count) {
      return is != nullptr ? done_by<kind>(sum, is->figure) : ask<kind + 1>(one, sum);
    } else {
      return done_by<kind>(sum, is->figure);
    }
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
  explicit hierarchy(const plan& the_plan) : slots(the_plan.size()) {
    for (std::size_t i = 0; i < the_plan.size(); ++i) {
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

static_assert(sizeof(variants<4>::every::type) == sizeof(base));

const experiment question{
    .id = "language/variant_vs_virtual",
    .question = "Is it faster to visit a variant or to call a virtual function?",
    .isolates =
        "Objects of four kinds, of the same size and side by side in both; each does "
        "something else to a running sum. In `rotating` order a predictor knows what comes, in "
        "`random` order it cannot.",
    .not_shown =
        "Alternatives of different sizes, which make every variant as large as the largest, and "
        "objects strewn over the heap, as those of a hierarchy often are. The virtual objects are "
        "reached through pointers, since that is how they are kept: one more load each. In random "
        "order the mispredicted jump is nearly all of it, for both. The report latency-lab "
        "has a million objects of two kinds in turn (kinds=2, objects=1048576).",
    .parameters = {order, kind_items, kinds, objects},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one object asked"},
                   processor_time},
    .subjects = {{"variant", "std::variant, std::visit", measure_either<visited>},
                 {"variant_get_if", "std::variant, std::get_if one after the other",
                  measure_either<asked>},
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
