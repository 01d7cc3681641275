// A library with operators new and delete of its own. In front of each of their blocks is a page
// that cannot be read: an allocator that takes a block for its own ends the process.
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
constexpr std::size_t page = 65536; // or a part of it
} // namespace

void* operator new(std::size_t size) {
  auto* const at =
      static_cast<char*>(mmap(nullptr, page + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (at == MAP_FAILED || mprotect(at + page, size, PROT_READ | PROT_WRITE) != 0) std::abort();
  return at + page;
}
void operator delete(void* block) noexcept {
  auto* const at = static_cast<char*>(block);
  if (at != nullptr && munmap(at, 1) != 0) std::abort();
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

extern "C" int use_pages() {
  for (int i = 0; i < 1000; ++i) {
    auto* const bytes = static_cast<char*>(::operator new(i % 10 == 0 ? 100'000 : 100));
    bytes[0] = 1;
    ::operator delete(bytes);
  }
  return 0;
}
