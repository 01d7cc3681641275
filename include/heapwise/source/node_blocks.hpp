// A block source whose memory lies on one NUMA node.
#pragma once

#include <cstddef>

#include <heapwise/block_source.hpp>

namespace heapwise::inline v0_2 {

/// A source of pieces whose pages the system takes from one node of a NUMA machine, whichever
/// thread touches them first. It is for a pool whose blocks are used by the threads of that node.
///
/// Errors: allocate returns nullptr if the system has no such node, has no nodes at all, or forbids
/// it (mbind). If a page is touched when its node is full, the system decides what happens. It may
/// end the program, as for all memory. Thread safety: all threads at once.
class node_blocks final : public block_source {
 public:
  /// `node` is the number of the node in the system (/sys/devices/system/node).
  explicit node_blocks(unsigned node) noexcept : node_{node} {}

  /// Returns: the node of the processor that the calling thread runs on now; 0 if the system does
  /// not say which.
  [[nodiscard]] static unsigned here() noexcept;

  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override;
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override;
  void purge(void* memory, std::size_t size_bytes) noexcept override;
  [[nodiscard]] std::size_t granularity_bytes() const noexcept override;

  /// Returns: the number of the node.
  [[nodiscard]] unsigned node() const noexcept { return node_; }

 private:
  unsigned node_;
};

} // namespace heapwise::inline v0_2
