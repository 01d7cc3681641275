#include <heapwise/source/resource_blocks.hpp>

namespace heapwise::inline v0_2 {

void* resource_blocks::allocate(std::size_t size_bytes, std::size_t alignment) noexcept {
  try {
    return upstream_->allocate(size_bytes, alignment);
  } catch (...) {
    return nullptr;
  }
}

void resource_blocks::deallocate(void* memory, std::size_t size_bytes,
                                 std::size_t alignment) noexcept {
  upstream_->deallocate(memory, size_bytes, alignment);
}

} // namespace heapwise::inline v0_2
