#include <heapwise/block_source.hpp>

#include <cstdint>

#include "os/os.hpp"
#include "pool/pages.hpp"

namespace heapwise::inline v0_2 {
namespace {

class os_block_source final : public block_source {
 public:
  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override {
    const std::size_t pages_bytes = round_up_to(size_bytes, os::page_bytes());
    return pages_bytes == 0 ? nullptr : os::map(pages_bytes, alignment);
  }
  void deallocate(void* memory, std::size_t size_bytes, std::size_t) noexcept override {
    os::unmap(memory, round_up_to(size_bytes, os::page_bytes()));
  }
  void* enlarge(void* memory, std::size_t size_bytes, std::size_t larger_bytes,
                std::size_t alignment) noexcept override {
    const std::size_t page = os::page_bytes();
    const std::size_t pages_bytes = round_up_to(larger_bytes, page);
    if (pages_bytes == 0 || alignment > page)
      return nullptr; // another place has a page's alignment
    return os::enlarge(memory, round_up_to(size_bytes, page), pages_bytes);
  }
  void purge(void* memory, std::size_t size_bytes) noexcept override {
    purge_pages(memory, size_bytes);
  }
  [[nodiscard]] std::size_t granularity_bytes() const noexcept override { return os::page_bytes(); }
};

constinit os_block_source the_os_blocks;

} // namespace

block_source& os_blocks() noexcept { return the_os_blocks; }

void* static_blocks::allocate(std::size_t size_bytes, std::size_t alignment) noexcept {
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(next_) & (alignment - 1);
  if (before > remaining_bytes() || size_bytes > remaining_bytes() - before) return nullptr;
  std::byte* const memory = next_ + before;
  next_ = memory + size_bytes;
  return memory;
}

void static_blocks::deallocate(void* memory, std::size_t size_bytes, std::size_t) noexcept {
  auto* const piece = static_cast<std::byte*>(memory);
  if (piece >= begin_ && piece + size_bytes == next_) next_ = piece;
}

void* fake_blocks::allocate(std::size_t size_bytes, std::size_t alignment) noexcept {
  ++requests_;
  if (successes_left_ == 0) return nullptr;
  void* const memory = upstream_->allocate(size_bytes, alignment);
  if (memory == nullptr) return nullptr;
  --successes_left_;
  ++pieces_out_;
  bytes_out_ += size_bytes;
  return memory;
}

void* fake_blocks::enlarge(void* memory, std::size_t size_bytes, std::size_t larger_bytes,
                           std::size_t alignment) noexcept {
  ++requests_;
  if (successes_left_ == 0) return nullptr;
  void* const larger = upstream_->enlarge(memory, size_bytes, larger_bytes, alignment);
  if (larger == nullptr) return nullptr;
  --successes_left_;
  bytes_out_ += larger_bytes - size_bytes;
  return larger;
}

void fake_blocks::deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept {
  --pieces_out_;
  bytes_out_ -= size_bytes;
  upstream_->deallocate(memory, size_bytes, alignment);
}

} // namespace heapwise::inline v0_2
