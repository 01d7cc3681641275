// A block source over a std::pmr::memory_resource.
#pragma once

#include <cstddef>
#include <memory_resource>

#include <heapwise/block_source.hpp>

namespace heapwise::inline v0_2 {

/// A source of pieces from a memory resource. So pools and arenas can lie in any memory for which a
/// program has a resource. With std::pmr::new_delete_resource(), they lie in memory of operator
/// new.
///
/// Requires: the resource outlives the source and its users.
/// Errors: allocate returns nullptr if the resource throws. Thread safety: as the resource.
class resource_blocks final : public block_source {
 public:
  /// Effects: allocates nothing. Requires: `upstream` is not nullptr.
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

} // namespace heapwise::inline v0_2
