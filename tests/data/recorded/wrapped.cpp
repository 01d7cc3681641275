// A program with wrappers around its allocations, of which the tests know what lives when.
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

void* volatile kept[100];

[[gnu::noinline]] void* xmalloc(std::size_t bytes) {
  void* block = malloc(bytes);
  if (block == nullptr) abort();
  return block;
}

[[gnu::noinline]] void* own_layer(std::size_t bytes) {
  void* block = xmalloc(bytes);
  static_cast<char*>(block)[0] = 1;
  return block;
}

/// 100 blocks of 5000 bytes, of which 10 are never freed.
[[gnu::noinline]] void load_table() {
  for (auto& place : kept) place = own_layer(5000);
}

[[gnu::noinline]] void drop_table() {
  for (int i = 10; i < 100; ++i) {
    free(kept[i]);
    kept[i] = nullptr;
  }
}

/// Blocks of 1 MB, one at a time, by operator new below std::vector.
[[gnu::noinline]] void fill_vectors() {
  for (int i = 0; i < 20; ++i) {
    std::vector<char> bytes(1000000);
    static_cast<volatile char*>(bytes.data())[i] = 1;
  }
}

} // namespace

int main() {
  fill_vectors();
  load_table();
  drop_table();
}
