// Sources of pages of a certain kind.
#include <heapwise/source/huge_blocks.hpp>
#include <heapwise/source/node_blocks.hpp>

#include <algorithm>
#include <cstdint>

#include "os/os.hpp"
#include "os/placement.hpp"
#include "pool/pages.hpp"

namespace heapwise::inline v0_2 {

void* huge_blocks::allocate(std::size_t size_bytes, std::size_t alignment) noexcept {
  const std::size_t bytes = round_up_to(size_bytes, os::huge_page_bytes());
  if (bytes == 0) return nullptr;
  void* const memory = os::map(bytes, std::max(alignment, os::huge_page_bytes()));
  if (memory != nullptr) os::prefer_huge_pages(memory, bytes);
  return memory;
}

void huge_blocks::deallocate(void* memory, std::size_t size_bytes, std::size_t) noexcept {
  os::unmap(memory, round_up_to(size_bytes, os::huge_page_bytes()));
}

void huge_blocks::purge(void* memory, std::size_t size_bytes) noexcept {
  purge_pages(memory, size_bytes);
}

std::size_t huge_blocks::granularity_bytes() const noexcept { return os::huge_page_bytes(); }

unsigned node_blocks::here() noexcept { return os::current_node(); }

void* node_blocks::allocate(std::size_t size_bytes, std::size_t alignment) noexcept {
  const std::size_t bytes = round_up_to(size_bytes, os::page_bytes());
  if (bytes == 0) return nullptr;
  void* const memory = os::map(bytes, alignment);
  if (memory == nullptr || os::bind_to_node(memory, bytes, node_)) return memory;
  os::unmap(memory, bytes);
  return nullptr;
}

void node_blocks::deallocate(void* memory, std::size_t size_bytes, std::size_t) noexcept {
  os::unmap(memory, round_up_to(size_bytes, os::page_bytes()));
}

void node_blocks::purge(void* memory, std::size_t size_bytes) noexcept {
  purge_pages(memory, size_bytes);
}

std::size_t node_blocks::granularity_bytes() const noexcept { return os::page_bytes(); }

} // namespace heapwise::inline v0_2
