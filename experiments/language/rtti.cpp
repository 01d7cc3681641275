// Which of four kinds an object is: its own tag, typeid, or dynamic_cast.
//
// build: aligned_loops
#include <memory>
#include <typeinfo>
#include <vector>

#include "sources/kinds.hpp"

namespace {

using namespace languages;

struct base {
  base(std::size_t which, std::uint64_t held) noexcept : tag{which}, figure{held} {}
  virtual ~base() = default;
  std::size_t tag;
  std::uint64_t figure;
};

template <std::size_t kind>
struct derived : base {
  using base::base;
};

struct family {
  explicit family(const plan& the_plan) {
    for (std::size_t i = 0; i < the_plan.size(); ++i)
      all.push_back(make(the_plan.kind[i], the_plan.figure[i]));
  }
  [[nodiscard]] std::uint64_t expected(const plan& the_plan, std::uint64_t rounds) const noexcept {
    return the_plan.expected(rounds);
  }

  static std::unique_ptr<base> make(std::size_t kind, std::uint64_t figure) {
    switch (kind) {
      case 0:
        return std::make_unique<derived<0>>(kind, figure);
      case 1:
        return std::make_unique<derived<1>>(kind, figure);
      case 2:
        return std::make_unique<derived<2>>(kind, figure);
      default:
        return std::make_unique<derived<3>>(kind, figure);
    }
  }

  std::vector<std::unique_ptr<base>> all;
};

/// What an object does whose kind is known to be one of `count`.
template <std::size_t count>
std::uint64_t done_by_tag(std::size_t tag, std::uint64_t sum, std::uint64_t figure) noexcept {
  if constexpr (count == 2) return tag == 0 ? done_by<0>(sum, figure) : done_by<1>(sum, figure);
  switch (tag) {
    case 0:
      return done_by<0>(sum, figure);
    case 1:
      return done_by<1>(sum, figure);
    case 2:
      return done_by<2>(sum, figure);
    default:
      return done_by<3>(sum, figure);
  }
}

template <std::size_t count>
struct tagged : family {
  using family::family;
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const noexcept {
    const base& one = *all[i];
    return done_by_tag<count>(one.tag, sum, one.figure);
  }
};

/// Values side by side, without a virtual table and without a pointer to reach them.
template <std::size_t count>
struct tagged_values {
  struct value {
    std::size_t tag;
    std::uint64_t figure;
  };
  explicit tagged_values(const plan& the_plan) {
    for (std::size_t i = 0; i < the_plan.size(); ++i) {
      all.push_back({the_plan.kind[i], the_plan.figure[i]});
    }
  }
  [[nodiscard]] std::uint64_t expected(const plan& the_plan, std::uint64_t rounds) const noexcept {
    return the_plan.expected(rounds);
  }
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const noexcept {
    return done_by_tag<count>(all[i].tag, sum, all[i].figure);
  }
  std::vector<value> all;
};

template <std::size_t count>
struct by_typeid : family {
  using family::family;
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const {
    const base& one = *all[i];
    const std::type_info& is = typeid(one);
    if (is == typeid(derived<0>)) return done_by<0>(sum, one.figure);
    if constexpr (count == 2) return done_by<1>(sum, one.figure);
    if (is == typeid(derived<1>)) return done_by<1>(sum, one.figure);
    if (is == typeid(derived<2>)) return done_by<2>(sum, one.figure);
    return done_by<3>(sum, one.figure);
  }
};

template <std::size_t count>
struct by_cast : family {
  using family::family;
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const {
    const base* one = all[i].get();
    if (const auto* is = dynamic_cast<const derived<0>*>(one)) return done_by<0>(sum, is->figure);
    if constexpr (count == 2) {
      return done_by<1>(sum, dynamic_cast<const derived<1>*>(one)->figure);
    }
    if (const auto* is = dynamic_cast<const derived<1>*>(one)) return done_by<1>(sum, is->figure);
    if (const auto* is = dynamic_cast<const derived<2>*>(one)) return done_by<2>(sum, is->figure);
    return done_by<3>(sum, dynamic_cast<const derived<3>*>(one)->figure);
  }
};

const experiment question{
    .id = "language/rtti",
    .question = "What does it cost to ask an object at run time what it is?",
    .isolates =
        "Objects of four kinds behind pointers to their base; a chain of questions, 2.5 on "
        "average, finds the kind. In `rotating` order a predictor knows the answers, in `random` "
        "order it cannot.",
    .not_shown =
        "Hierarchies with several levels or several bases, where dynamic_cast searches for "
        "longer. Types whose names are not the same pointer in all libraries, which are compared "
        "as text. The objects were made one after the other and lie in that order. The report "
        "latency-lab has a million objects of two kinds in turn (kinds=2, objects=1048576), and "
        "its "
        "tags are in values, which it reaches without a pointer: `tag_in_value`.",
    .parameters = {order, kind_items, kinds, objects},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one object told apart"},
                   processor_time},
    .subjects = {{"tag", "a number in the object, switch", measure_either<tagged>},
                 {"tag_in_value", "a number in a value, no pointer", measure_either<tagged_values>},
                 {"typeid", "typeid, compared", measure_either<by_typeid>},
                 {"dynamic_cast", "dynamic_cast, tried", measure_either<by_cast>},
                 empty_loop_of_kinds},
    .baseline = "tag",
    .expectations = {{.says = "dynamic_cast is at most a third as fast as a tag that is predicted",
                      .quantity = rate_name,
                      .subject = "dynamic_cast",
                      .over = "tag",
                      .parameters = {{"order", "rotating"}},
                      .at_most = 1.0 / 3}},
    .answers = {{.quantity = "throughput", .subject = "typeid", .over = "tag"},
                {.quantity = "throughput", .subject = "dynamic_cast", .over = "tag"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
