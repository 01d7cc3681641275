// Every operator new without memory, with all kinds of new handlers. A program, or a plug-in for
// host.c. Prints what happened.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <vector>

namespace {

constexpr std::size_t too_much = std::size_t{1} << 60;
constexpr std::align_val_t wide{64};
int handled = 0;

/// Keeps the compiler from leaving out a pair of new and delete.
void* seen(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

struct of_the_handler {};

void gives_up() {
  ++handled;
  std::set_new_handler(nullptr);
}
void throws_its_own() {
  ++handled;
  throw of_the_handler{};
}
void throws_bad_alloc() {
  ++handled;
  throw std::bad_alloc{};
}

void throwing(const char* name, void* (*call)()) {
  const char* how = "returned";
  try {
    seen(call());
  } catch (const std::bad_alloc&) {
    how = "bad_alloc";
  } catch (const of_the_handler&) {
    how = "what the handler threw";
  } catch (...) {
    how = "a stranger";
  }
  std::printf("%s: %s, handled %d, in flight %d\n", name, how, handled, std::uncaught_exceptions());
}

void nothrow(const char* name, void* (*call)() noexcept) {
  const char* const how = seen(call()) == nullptr ? "null" : "a block";
  std::printf("%s: %s, handled %d, in flight %d\n", name, how, handled, std::uncaught_exceptions());
}

/// As most programs do; that brings the function that throws into one with a runtime of its own.
void fill_a_vector() {
  std::vector<void*> many;
  const char* how = "filled";
  try {
    many.resize(too_much / sizeof(void*));
    seen(many.data());
  } catch (const std::bad_alloc&) {
    how = "bad_alloc";
  }
  std::printf("vector: %s, in flight %d\n", how, std::uncaught_exceptions());
}

void all_forms(const char* title, std::new_handler handler) {
  std::printf("%s\n", title);
  const auto each = [&](auto&& run, const char* name, auto call) {
    handled = 0;
    std::set_new_handler(handler);
    run(name, call);
  };
  each(throwing, "new", []() { return ::operator new(too_much); });
  each(throwing, "new[]", []() { return ::operator new[](too_much); });
  each(throwing, "new aligned", []() { return ::operator new(too_much, wide); });
  each(throwing, "new[] aligned", []() { return ::operator new[](too_much, wide); });
  each(nothrow, "new nothrow", []() noexcept { return ::operator new(too_much, std::nothrow); });
  each(nothrow, "new[] nothrow",
       []() noexcept { return ::operator new[](too_much, std::nothrow); });
  each(nothrow, "new aligned nothrow",
       []() noexcept { return ::operator new(too_much, wide, std::nothrow); });
  each(nothrow, "new[] aligned nothrow",
       []() noexcept { return ::operator new[](too_much, wide, std::nothrow); });
  std::set_new_handler(nullptr);
}

} // namespace

extern "C" int use_operators() {
  fill_a_vector();
  all_forms("without a handler", nullptr);
  all_forms("with one that gives up", gives_up);
  all_forms("with one that throws bad_alloc", throws_bad_alloc);
  all_forms("with one that throws something else", throws_its_own);
  std::fflush(stdout);
  return 0;
}

int main() { return use_operators(); }
