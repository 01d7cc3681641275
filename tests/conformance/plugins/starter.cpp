// A library whose constructor starts a thread and waits for it, while dlopen holds the loader's
// lock: a malloc that needs the loader for a thread's first block would wait for ever. Its
// destructor frees, too.
#include <cstdlib>
#include <thread>

namespace {

void* kept = nullptr;

void work() {
  static void* blocks[2000];
  for (std::size_t i = 0; i < 2000; ++i) blocks[i] = std::malloc(i * 17 % 40'000);
  for (void* block : blocks) std::free(block);
  kept = std::realloc(std::malloc(10), 100'000);
}

__attribute__((constructor)) void loaded() { std::thread(work).join(); }

__attribute__((destructor)) void unloaded() { std::free(kept); }

} // namespace

extern "C" bool starter_has_worked() { return kept != nullptr; }
