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
    for (std::size_t i = 0; i < objects; ++i)
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

struct tagged : family {
  using family::family;
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const noexcept {
    const base& one = *all[i];
    switch (one.tag) {
      case 0:
        return done_by<0>(sum, static_cast<const derived<0>&>(one).figure);
      case 1:
        return done_by<1>(sum, static_cast<const derived<1>&>(one).figure);
      case 2:
        return done_by<2>(sum, static_cast<const derived<2>&>(one).figure);
      default:
        return done_by<3>(sum, static_cast<const derived<3>&>(one).figure);
    }
  }
};

struct by_typeid : family {
  using family::family;
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const {
    const base& one = *all[i];
    const std::type_info& is = typeid(one);
    if (is == typeid(derived<0>)) return done_by<0>(sum, one.figure);
    if (is == typeid(derived<1>)) return done_by<1>(sum, one.figure);
    if (is == typeid(derived<2>)) return done_by<2>(sum, one.figure);
    return done_by<3>(sum, one.figure);
  }
};

struct by_cast : family {
  using family::family;
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const {
    const base* one = all[i].get();
    if (const auto* is = dynamic_cast<const derived<0>*>(one)) return done_by<0>(sum, is->figure);
    if (const auto* is = dynamic_cast<const derived<1>*>(one)) return done_by<1>(sum, is->figure);
    if (const auto* is = dynamic_cast<const derived<2>*>(one)) return done_by<2>(sum, is->figure);
    return done_by<3>(sum, dynamic_cast<const derived<3>*>(one)->figure);
  }
};

const experiment question{
    .id = "language/rtti",
    .question = "What does it cost to ask an object at run time what it is?",
    .isolates =
        "65536 objects of four kinds behind pointers to their base; a chain of questions, 2.5 on "
        "average, finds the kind. In `rotating` order a predictor knows the answers, in `random` "
        "order it cannot.",
    .not_shown =
        "Hierarchies with several levels or several bases, where dynamic_cast searches for "
        "longer. Types whose names are not the same pointer in all libraries, which are compared "
        "as text. The objects were made one after the other and lie in that order.",
    .parameters = {order, kind_items},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one object told apart"},
                   processor_time},
    .subjects = {{"tag", "a number in the object, switch", measure_kinds<tagged>},
                 {"typeid", "typeid, compared", measure_kinds<by_typeid>},
                 {"dynamic_cast", "dynamic_cast, tried", measure_kinds<by_cast>},
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
