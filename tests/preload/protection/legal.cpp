// Calls that are allowed and look odd; with an argument, a delete that is not.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <malloc.h>

int main(int count, char** words) {
  if (count == 2) {
    if (words[1] == std::string("sized")) ::operator delete(::operator new(100), std::size_t{200});
    void* const block = ::operator new(100, std::align_val_t{64});
    ::operator delete(block, std::size_t{100}, std::align_val_t{512});
    return 0;
  }
  std::uint64_t random = 7;
  std::vector<char*> blocks(500);
  for (int round = 0; round < 200000; ++round) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    char*& block = blocks[(random >> 33) % blocks.size()];
    const std::size_t size = (random >> 20) % ((round % 50 == 0) ? 100000 : 2000);
    if (random % 3 == 0) {
      std::free(block);
      block = static_cast<char*>(std::malloc(size));
    } else {
      block = static_cast<char*>(std::realloc(block, size + 1));
    }
    if (block != nullptr) std::memset(block, 'x', malloc_usable_size(block)); // all of it is usable
    if (round % 100 == 0) {
      const std::size_t alignment = std::size_t{16} << (random >> 50) % 8;
      void* const aligned = ::operator new(size, std::align_val_t{alignment});
      if (reinterpret_cast<std::uintptr_t>(aligned) % alignment != 0) return 1;
      ::operator delete(aligned, size, std::align_val_t{alignment});
      ::operator delete(::operator new(size), size);
      const char* const zeros = static_cast<char*>(std::calloc(size + 1, 1));
      for (std::size_t at = 0; at <= size; ++at) {
        if (zeros[at] != 0) return 2;
      }
      std::free(const_cast<char*>(zeros));
    }
  }
  for (char* each : blocks) std::free(each);
}
