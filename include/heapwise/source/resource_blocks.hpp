// A block source over a std::pmr::memory_resource.
#pragma once

#include <cstddef>
#include <memory_resource>

#include <heapwise/block_source.hpp>

namespace heapwise::inline v0_1 {

/// Pieces come from a memory resource: pools and arenas can lie in whatever memory a program has
/// resources for. Over std::pmr::new_delete_resource() they lie in that of operator new.
///
/// Requires: the resource outlives the source and its users.
/// Errors: nullptr if the resource throws. Thread safety: as the resource.
class resource_blocks final : public block_source {
 public:
  /// Requires: `upstream` is not nullptr. Allocates nothing.
  explicit resource_blocks(
      std::pmr::memory_resource* upstream = std::pmr::get_default_resource()) noexcept
      : upstream_{upstream} {}

  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override;
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override;

  /// Returns: the resource that pieces come from.
  [[nodiscard]] std::pmr::memory_resource* upstream_resource() const noexcept { return upstream_; }

 private:
  std::pmr::memory_resource* upstream_;
};

} // namespace heapwise::inline v0_1
