// One function reached by a template, through a pointer, and through a virtual table.
//
// build: aligned_loops
// build again: O3_native = -O3 -march=native
// build again: clang_O3_native = clang -O3 -march=native
#include "harness/builds.hpp"
#include "sources/numbers.hpp"

namespace {

using namespace languages;

/// How an item is handed over: a number by value, a pair by reference.
template <class Figure>
using argument = std::conditional_t<std::is_same_v<Figure, two>, const two&, Figure>;

struct direct {
  template <class Figure>
  std::uint64_t operator()(const Figure& figure) const noexcept {
    return work_of(figure);
  }
};

template <class Work>
void measure_template(cell& the_cell) {
  measure_calls(the_cell, Work{});
}

template <class Figure>
std::uint64_t through_pointer(argument<Figure> figure) noexcept {
  return work_of(figure);
}

void measure_known_pointer(cell& the_cell) {
  measure_calls(the_cell, []<class Figure>(const Figure& figure) {
    constexpr auto* pointer = &through_pointer<Figure>;
    return pointer(figure);
  });
}

struct pointers {
  std::uint64_t operator()(std::uint64_t figure) const { return to_number(figure); }
  std::uint64_t operator()(const two& figure) const { return to_pair(figure); }
  std::uint64_t (*to_number)(std::uint64_t) noexcept;
  std::uint64_t (*to_pair)(const two&) noexcept;
};

void measure_pointer(cell& the_cell) {
  pointers both{through_pointer<std::uint64_t>, through_pointer<two>};
  forget(both.to_number);
  forget(both.to_pair);
  measure_calls(the_cell, both);
}

struct operation {
  virtual ~operation() = default;
  virtual std::uint64_t apply(std::uint64_t figure) const noexcept = 0;
  virtual std::uint64_t apply(const two& figure) const noexcept = 0;
};

struct scaled : operation {
  std::uint64_t apply(std::uint64_t figure) const noexcept override { return work_of(figure); }
  std::uint64_t apply(const two& figure) const noexcept override { return work_of(figure); }
};

/// Never called. With one implementation in the program a compiler may call it directly.
struct same : operation {
  std::uint64_t apply(std::uint64_t figure) const noexcept override { return figure; }
  std::uint64_t apply(const two& figure) const noexcept override { return figure.x; }
};

struct scaled_finally final : operation {
  std::uint64_t apply(std::uint64_t figure) const noexcept override { return work_of(figure); }
  std::uint64_t apply(const two& figure) const noexcept override { return work_of(figure); }
};

void measure_virtual(cell& the_cell) {
  const scaled called;
  const same other;
  const operation* reached = the_cell.size("items") != 0 ? static_cast<const operation*>(&called)
                                                         : static_cast<const operation*>(&other);
  forget(reached);
  measure_calls(the_cell, [reached](const auto& figure) { return reached->apply(figure); });
}

/// The compiler may see which object it is, and so which function: the object is beside the loop.
void measure_known_virtual(cell& the_cell) {
  measure_calls(the_cell, [called = scaled_finally{}](const auto& figure) {
    const operation* reached = &called;
    return reached->apply(figure);
  });
}

void measure_final(cell& the_cell) {
  const scaled_finally called;
  const scaled_finally* reached = &called;
  forget(reached);
  measure_calls(the_cell, [reached](const auto& figure) { return reached->apply(figure); });
}

const experiment question{
    .id = "language/dispatch",
    .question = "What does it cost to find out at run time which function is called?",
    .isolates =
        "The way to one small function, always the same, so that every jump is predicted: inlined "
        "by a template, called through a pointer, called through a virtual table.",
    .not_shown =
        "Jumps that cannot be predicted (language/variant_vs_virtual), and what a compiler makes "
        "of several inlined calls at once (cpu/inlining). latency-lab's function pointer, at one "
        "call a cycle, was known to its compiler and inlined: here that is "
        "`function_pointer_known`; `function_pointer` is one that the compiler knows nothing of. "
        "Its object was in sight too: that is `virtual_known`. With loop=pairs, as in that report, "
        "each compiler decides by itself which calls it inlines and joins, and the items come from "
        "far caches: its author's program has virtual calls 1.06 to 1.08 times as slow as a "
        "template with g++ 12 -O3, and 1.7 to 1.9 times as slow with clang 16. g++ sees which "
        "object is called, and inlines the call; clang does not.",
    .parameters = {items, loop, builds()},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one call"}, processor_time},
    .subjects = {{"template", "template", measure_template<direct>},
                 {"function_pointer_known", "function pointer, its target in sight",
                  measure_known_pointer},
                 {"function_pointer", "function pointer", measure_pointer},
                 {"virtual", "virtual function", measure_virtual},
                 {"virtual_known", "virtual function, its object in sight", measure_known_virtual},
                 {"virtual_final", "virtual function of a final class", measure_final},
                 empty_loop},
    .baseline = "template",
    .repeats = 16,
    .expectations = {{.says = "a virtual call is at most 0.8 times as fast as no call",
                      .quantity = rate_name,
                      .subject = "virtual",
                      .over = "template",
                      .at_most = 0.8},
                     {.says = "a pointer whose target is in sight costs nothing",
                      .quantity = rate_name,
                      .subject = "function_pointer_known",
                      .over = "template",
                      .at_least = 0.9}},
    .answers = {{.quantity = "throughput", .subject = "virtual", .over = "template"},
                {.quantity = "throughput", .subject = "virtual", .over = "function_pointer"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv, this_build); }
