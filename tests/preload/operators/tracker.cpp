// A library to preload in front of the heap that replaces only the basic operators, as a tracker
// of allocations does.
#include <cstddef>
#include <cstdlib>
#include <new>

constexpr std::size_t header = 16;

void* operator new(std::size_t size) {
  auto* const block = static_cast<std::byte*>(std::malloc(size + header));
  if (block == nullptr) throw std::bad_alloc{};
  return block + header;
}
void operator delete(void* block) noexcept {
  if (block != nullptr) std::free(static_cast<std::byte*>(block) - header);
}
