// B1-19: malloc while the loader is still choosing functions, before any constructor has run.
#include "observe.hpp"

namespace {

constexpr std::size_t bytes = 3000;
void* block; // no constructor writes it after the resolver has

int chosen() { return 42; }

} // namespace

extern "C" {
using chosen_function = int();

chosen_function* choose() {
  std::free(std::malloc(100));
  block = std::realloc(std::calloc(1, 10), bytes);
  for (std::size_t i = 0; block != nullptr && i < bytes; ++i) static_cast<char*>(block)[i] = 7;
  return chosen;
}
}

int chosen_early() __attribute__((ifunc("choose")));

int main() {
  using namespace conformance;
  introduce();
  bool whole = chosen_early() == 42 && block != nullptr;
  for (std::size_t i = 0; whole && i < bytes; ++i) whole = static_cast<char*>(block)[i] == 7;
  std::free(block);
  expect("B1-19", "an IFUNC resolver allocates", yes_or_no(whole), "yes");
  done("B1-19");
}
