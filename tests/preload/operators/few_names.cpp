// Needs as little of the C++ runtime as a program can that catches std::bad_alloc: what it does not
// need is not in it if the runtime is linked statically.
#include <cstddef>
#include <cstdio>
#include <new>

int main(int argc, char**) {
  const std::size_t too_much = std::size_t{1} << 59 << argc; // the compiler does not know it
  try {
    char* const block = new char[too_much];
    asm volatile("" : : "r"(block) : "memory");
  } catch (const std::bad_alloc&) {
    std::puts("bad_alloc");
    return 0;
  }
  return 1;
}
