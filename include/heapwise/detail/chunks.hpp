// The chunks of a pool: where its blocks lie, how it grows, and which addresses are its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heapwise/block_source.hpp>
#include <heapwise/detail/poison.hpp>
#include <heapwise/detail/stride.hpp>
#include <heapwise/pool_options.hpp>

namespace heapwise::detail::inline v0_2 {

/// What a pool's options come to, validated. Sizes in bytes, counts in blocks.
struct geometry {
  std::size_t block_size;           ///< what the user may write to
  std::size_t stride_bytes;         ///< from one block to the next; a multiple of the alignment
  std::size_t alignment;            ///< a power of two
  std::size_t first_blocks;         ///< blocks of the first chunk
  std::size_t max_blocks;           ///< blocks of all chunks together, at most
  next_blocks_function next_blocks; ///< how many blocks the next chunk should have
  void* growth_context;             ///< what the function gets
  std::size_t growth_step;          ///< of growth::linear
  stride_divider divider;
  memory_marks marks{}; ///< how blocks that are not handed out are marked, if at all

  /// Returns: how many blocks the next chunk of a pool of this capacity should have.
  [[nodiscard]] std::size_t wanted_blocks(std::size_t capacity) const noexcept;

  /// Returns: the geometry for `options` with `guard_bytes` added to each block.
  /// Throws: std::invalid_argument, std::length_error (see pool_options).
  static geometry of(const pool_options& options, std::size_t guard_bytes,
                     std::size_t min_stride_bytes);
};

/// One piece of memory cut into blocks.
struct chunk {
  std::byte* base; ///< the first block
  std::size_t blocks;
  std::size_t first_index; ///< index of the first block among all blocks of the pool
  std::size_t size_bytes;  ///< what was asked of the source
  chunk* older;            ///< the chunk before it, nullptr for the first
  std::byte* memory;       ///< what the source returned, at or before the first block

  /// Returns: the index within this chunk, or a number >= blocks if `address` is not a block of it.
  [[nodiscard]] std::size_t index_of(const void* address,
                                     const stride_divider& divider) const noexcept {
    return divider.quotient(reinterpret_cast<std::uintptr_t>(address) -
                            reinterpret_cast<std::uintptr_t>(base));
  }
};

/// The chunks of one pool, newest first. With growth::geometric each new chunk has as many blocks
/// as all before it together. It has fewer than the growth asks for if the source has no room. The
/// object lies behind the first chunk, so a pool needs no other memory. Behind the object lie the
/// records of the first chunks: a search looks at neighbours, not at one page after the other. The
/// record of each later chunk lies behind its last block.
///
/// Thread safety: everything but create and destroy may be called by all threads at once; a chunk
/// is published whole and never changes or goes away before destroy. Lock-free, except for `grow`.
class chunks {
 public:
  static constexpr std::size_t no_index = static_cast<std::size_t>(-1);
  /// Chunks of a pool that grows whose records lie together. With doubling they are all but the
  /// newest, which most searches find first, of a pool of 65,536 times its first size.
  static constexpr std::size_t early_chunks = 16;

  /// Effects: obtains the first chunk and touches only its last page.
  /// Throws: std::bad_alloc if the source has no memory.
  static chunks* create(const geometry& shape, block_source& source);

  /// Effects: gives all memory back, this object's own included.
  static void destroy(chunks* self) noexcept;

  /// Effects: adds a chunk, unless `seen` is no longer the newest (another thread was faster).
  /// One thread at a time asks the source, the others wait for its chunk: a source need not be safe
  /// for several threads, and no chunk is obtained in vain. Takes no lock if the limit is reached.
  /// If the source refuses, half as many blocks are tried, down to about a page of them.
  /// Returns: the newest chunk then, or nullptr if the limit or the source's end is reached, or if
  /// the pool's user wants no more blocks.
  /// Complexity: one request, O(log capacity) of them if the source refuses.
  chunk* grow(chunk* seen) noexcept;

  [[nodiscard]] chunk* newest() const noexcept {
    return newest_.load(std::memory_order_acquire); // pairs with the publishing store in grow
  }

  /// Returns: the index of a block among all blocks of the pool, or `no_index` if `address` is not
  /// the first byte of a block.
  /// Complexity: O(chunks), half of all blocks being in the first that is looked at as long as the
  /// source had room for them.
  [[nodiscard]] std::size_t index_of(const void* address) const noexcept;

  /// Returns: the chunk that holds the block with that index, nullptr if none does yet.
  [[nodiscard]] chunk* holding(std::size_t index) const noexcept;

  /// Returns: as holding, but adds a chunk if the block lies just behind the newest; nullptr if
  /// that cannot be.
  [[nodiscard]] chunk* holding_or_grow(std::size_t index) noexcept;

  /// Requires: index < capacity(). Returns: the address of the block with that index.
  [[nodiscard]] void* address_of(std::size_t index) const noexcept {
    const chunk& piece = *find([&](const chunk& each) { return index >= each.first_index; });
    return piece.base + (index - piece.first_index) * shape_.stride_bytes;
  }

  /// Effects: gives back the newest chunks of which no block has an index below `used`, but never
  /// the first, and the pages that only blocks from `used` on lie in, as far as the source can.
  /// Requires: no other thread uses the pool, and none of these blocks is used any more.
  void trim(std::size_t used) noexcept;

  /// Effects: marks all blocks as not handed out. Requires: no other thread uses the pool.
  void hide_blocks() const noexcept;

  /// Effects: calls visit(index, block) for the first `count` blocks. Requires: count <=
  /// capacity().
  template <class Visit>
  void visit_blocks(std::size_t count, Visit&& visit) const {
    for (const chunk* piece = newest(); piece != nullptr; piece = piece->older) {
      std::byte* block = piece->base;
      const std::size_t end = std::min(count, piece->first_index + piece->blocks);
      for (std::size_t index = piece->first_index; index < end; ++index) {
        visit(index, static_cast<void*>(block));
        block += shape_.stride_bytes;
      }
    }
  }

  [[nodiscard]] const geometry& shape() const noexcept { return shape_; }
  [[nodiscard]] block_source& source() const noexcept { return *source_; }
  [[nodiscard]] std::size_t count() const noexcept;
  [[nodiscard]] std::size_t capacity() const noexcept;
  /// Returns: bytes obtained from the source.
  [[nodiscard]] std::size_t reserved_bytes() const noexcept;
  /// Returns: bytes of this object and of the chunks' records.
  [[nodiscard]] std::size_t record_bytes() const noexcept;

 private:
  chunks(const geometry& shape, block_source& source) noexcept;

  /// Returns: how many records lie behind the object.
  static std::size_t early_of(const geometry& shape) noexcept {
    return shape.max_blocks > shape.first_blocks ? early_chunks : 1;
  }
  /// Bytes of the object and of the records behind it.
  static std::size_t own_bytes(const geometry& shape) noexcept;

  [[nodiscard]] bool is_early(const chunk* piece) const noexcept {
    return piece >= early_ && piece < early_end_;
  }

  /// Returns: the newest chunk that `match` returns true for, nullptr if there is none.
  template <class Match>
  [[nodiscard]] chunk* find(Match&& match) const noexcept {
    chunk* piece = newest();
    for (; !is_early(piece); piece = piece->older) {
      if (match(*piece)) return piece;
    }
    for (;; --piece) {
      if (match(*piece)) return piece;
      if (piece == early_) return nullptr;
    }
  }

  /// Requires: the turn to grow. Returns: a new newest chunk, nullptr if the source refuses.
  chunk* add(chunk* seen, std::size_t blocks) noexcept;

  geometry shape_;
  block_source* source_;
  std::atomic<chunk*> newest_{nullptr};
  std::atomic<std::uint32_t> growing_{
      0};        ///< os::memory_number() while a thread grows the pool, or 0
  chunk* early_; ///< the first chunk, and the records of those after it
  chunk* early_end_;
};

} // namespace heapwise::detail::inline v0_2
