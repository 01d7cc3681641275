// Blocks of any size: the smallest free piece that is large enough, and neighbours that grow
// together.
#pragma once

#include <cstddef>
#include <cstdint>

#include <heapwise/hybrid/chunk_map.hpp>
#include <heapwise/hybrid/counted_mutex.hpp>

namespace heapwise::detail::hybrids {

/// Best fit in regions of one chunk. A piece has a tag of 16 bytes in front of it with its size and
/// that of the piece before (boundary tags: Knuth, volume 1, section 2.5); free pieces are nodes of
/// a search tree by size, then address, balanced by chance (a treap: Aragon and Seidel, 1989), so
/// that the best fit of the lowest address is found in O(log n). Blocks that do not fit into half
/// a region are chunks of their own, which go back to the source when they are freed.
///
/// Blocks are aligned to 64 bytes at the least. Thread safety: all, behind one lock.
class best_fit {
 public:
  static constexpr std::size_t granule_bytes = 64;
  static constexpr std::size_t largest_alignment = 4096;

  explicit best_fit(chunk_map& chunks) noexcept : chunks_{&chunks} {}
  best_fit(const best_fit&) = delete;
  best_fit& operator=(const best_fit&) = delete;
  ~best_fit() { reset(); }

  /// Returns: a block, or nullptr if there is no memory or the alignment is above the largest.
  /// Requires: alignment is a power of two.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept;

  /// Effects: takes a block back. Returns: false, and nothing happens, if no block that is out
  /// starts at the address. Requires: the address lies in one of the map's chunks, of kind
  /// `region` or `large`.
  bool deallocate(void* block) noexcept;

  /// Returns: the bytes that may be used; 0 if no block that is out starts at the address.
  [[nodiscard]] std::size_t usable_bytes(const void* block) noexcept;

  /// Effects: everything is free, all memory goes back. Requires: nobody else uses it meanwhile.
  void reset() noexcept;

  [[nodiscard]] const counted_mutex& lock() const noexcept { return mutex_; }
  [[nodiscard]] counted_mutex& lock() noexcept { return mutex_; }

  /// A piece of a region; what follows the tag is the block, or for a free piece its node.
  struct piece;
  struct region;
  struct large;

 private:
  [[nodiscard]] void* allocate_large(std::size_t size, std::size_t alignment) noexcept;
  [[nodiscard]] piece* take_piece(std::size_t size_bytes, std::size_t alignment) noexcept;
  bool add_region() noexcept;
  void drop_region(region* empty_region) noexcept;
  void free_piece(piece* freed) noexcept;
  piece* trim_front(piece* from, std::size_t alignment) noexcept;
  void trim_back(piece* from, std::size_t size_bytes) noexcept;
  [[nodiscard]] piece* live_piece(const void* block) const noexcept;
  [[nodiscard]] large* live_large(const void* block) const noexcept;

  chunk_map* chunks_;
  counted_mutex mutex_; // guards all that follows
  piece* root_ = nullptr;
  region* regions_ = nullptr;
  large* large_ = nullptr;
  region* empty_ = nullptr; ///< one region without a block is kept
};

} // namespace heapwise::detail::hybrids
