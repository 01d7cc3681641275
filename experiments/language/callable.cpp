// One piece of work handed over as a lambda, a functor, a function pointer and a std::function.
//
// build: aligned_loops
// build again: O3_native = -O3 -march=native
// build again: clang_O3_native = clang -O3 -march=native
#include <functional>

#include "harness/builds.hpp"
#include "sources/numbers.hpp"

namespace {

using namespace languages;

struct functor {
  std::uint64_t operator()(std::uint64_t figure) const noexcept { return work_of(figure); }
};

std::uint64_t function(std::uint64_t figure) noexcept { return work_of(figure); }

void measure_lambda(cell& the_cell) {
  measure_calls(the_cell, [](std::uint64_t figure) { return work_of(figure); });
}

void measure_functor(cell& the_cell) { measure_calls(the_cell, functor{}); }

void measure_known_pointer(cell& the_cell) {
  measure_calls(the_cell, [](std::uint64_t figure) {
    constexpr auto* pointer = &function;
    return pointer(figure);
  });
}

void measure_pointer(cell& the_cell) {
  auto* pointer = &function;
  forget(pointer);
  measure_calls(the_cell, pointer);
}

void measure_std_function(cell& the_cell) {
  std::function<std::uint64_t(std::uint64_t)> erased = functor{};
  escape(&erased); // what it holds is known to nobody from here on
  measure_calls(the_cell, erased);
}

const experiment question{
    .id = "language/callable",
    .question = "What does it cost to hand over a piece of work as an object that can be called?",
    .isolates = "The same small work, always the same, so that every jump is predicted.",
    .not_shown =
        "The making of a std::function, which allocates when what it holds is larger than two "
        "pointers; a std::function that is empty or changes. latency-lab's function pointer, at "
        "one "
        "call a cycle, was known to its compiler and inlined: here that is "
        "`function_pointer_known`; `function_pointer` is one that the compiler knows nothing of, "
        "and then std::function is that and a little more. With loop=free, as in that report, the "
        "compiler may join the items of what it inlines, and makes vector instructions of them.",
    .parameters = {items, loop, builds()},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one call"}, processor_time},
    .subjects = {{"lambda", "lambda", measure_lambda},
                 {"functor", "functor", measure_functor},
                 {"function_pointer_known", "function pointer, its target in sight",
                  measure_known_pointer},
                 {"function_pointer", "function pointer", measure_pointer},
                 {"std_function", "std::function", measure_std_function},
                 empty_loop},
    .baseline = "lambda",
    .repeats = 16,
    .expectations = {{.says = "a functor is a lambda",
                      .quantity = rate_name,
                      .subject = "functor",
                      .over = "lambda",
                      .at_least = 0.9,
                      .at_most = 1.1},
                     {.says = "a std::function is at most 0.8 times as fast as a lambda",
                      .quantity = rate_name,
                      .subject = "std_function",
                      .over = "lambda",
                      .at_most = 0.8}},
    .answers = {{.quantity = "throughput", .subject = "std_function", .over = "lambda"},
                {.quantity = "throughput", .subject = "std_function", .over = "function_pointer"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv, this_build); }
