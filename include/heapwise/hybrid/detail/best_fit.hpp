// Blocks of any size by best fit: the smallest free piece that is large enough is used, and free
// neighbours are joined.
#pragma once

#include <cstddef>
#include <cstdint>

#include <heapwise/hybrid/detail/chunk_map.hpp>
#include <heapwise/hybrid/detail/counted_mutex.hpp>

namespace heapwise::detail::hybrids {

/// Best fit in regions of one chunk each. A piece has a tag of 16 bytes in front of it, with its
/// own size and the size of the piece before it (boundary tags: Knuth, volume 1, section 2.5). Free
/// pieces are nodes of a search tree, in the order of their sizes and then of their addresses.
/// Random numbers balance the tree (a treap: Aragon and Seidel, 1989). So the best fit with the
/// lowest address is found in O(log n). A block that does not fit into half a region is a chunk of
/// its own, which goes back to the source when the block is freed.
///
/// Blocks are aligned to at least 64 bytes. Thread safety: all threads at once, behind one lock.
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

  /// Effects: takes a block back. Does nothing if no block that is in use starts at the address.
  /// Requires: the address lies in one of the map's chunks, of kind `region` or `large`.
  /// Returns: false if no block that is in use starts at the address.
  bool deallocate(void* block) noexcept;

  /// Returns: the bytes of the block that may be used; 0 if no block that is in use starts at the
  /// address.
  [[nodiscard]] std::size_t usable_bytes(const void* block) noexcept;

  /// Effects: all blocks are free, and all memory goes back to the source. Requires: no other
  /// thread uses it meanwhile.
  void reset() noexcept;

  [[nodiscard]] const counted_mutex& lock() const noexcept { return mutex_; }
  [[nodiscard]] counted_mutex& lock() noexcept { return mutex_; }

  /// A piece of a region. Behind the tag lies the block or, if the piece is free, its tree node.
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
  counted_mutex mutex_; // guards all members that follow
  piece* root_ = nullptr;
  region* regions_ = nullptr;
  large* large_ = nullptr;
  region* empty_ = nullptr; ///< one region without a block is kept
};

} // namespace heapwise::detail::hybrids
