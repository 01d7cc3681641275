// Uses a pool or an arena as it should be used, or as its first argument says.
// usage: hidden_memory good|read|write|double|never|arena|reset
#include <cstdlib>
#include <cstring>

#include <heapwise/arena.hpp>
#include <heapwise/thread/lock_free.hpp>
#include <heapwise/thread/locked.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <heapwise/typed_pool.hpp>

namespace {

bool is(const char* wanted, const char* said) { return std::strcmp(wanted, said) == 0; }

template <class Policy>
void use(const char* how) {
  heapwise::pool<Policy> blocks{
      {.block_size = 48, .block_count = 20, .growth = heapwise::growth::geometric}};
  void* all[100];
  for (int round = 0; round < 2; ++round) {
    for (void*& each : all) std::memset(each = blocks.allocate(), 1, 48);
    for (void* const each : all) blocks.deallocate(each);
    blocks.shrink();
  }
  auto* const block = static_cast<volatile char*>(blocks.allocate());
  auto* const other = static_cast<volatile char*>(blocks.allocate());
  block[40] = 1;
  if (is(how, "never")) other[10 * 48] = 1;
  blocks.deallocate(const_cast<char*>(block));
  blocks.deallocate(const_cast<char*>(other));
  if (is(how, "read") && block[40] == 7) std::exit(3);
  if (is(how, "write")) block[40] = 1;
  if (is(how, "double")) blocks.deallocate(const_cast<char*>(block));
}

void use_arena(const char* how) {
  heapwise::arena some;
  auto* const text = static_cast<volatile char*>(some.allocate(13));
  for (int i = 0; i < 13; ++i) text[i] = 1;
  if (is(how, "arena")) text[20] = 1;
  static_cast<void>(some.allocate(200'000));
  some.reset();
  if (is(how, "reset")) text[0] = 1;
  std::memset(some.allocate(100'000), 1, 100'000);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  use<heapwise::unsynchronized>(argv[1]);
  use<heapwise::locked>(argv[1]);
  use<heapwise::lock_free>(argv[1]);
  use<heapwise::thread_cached>(argv[1]);
  use_arena(argv[1]);
}
