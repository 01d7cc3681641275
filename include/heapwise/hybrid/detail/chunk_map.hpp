// The chunks of a hybrid allocator, and the search for the chunk of an address.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <heapwise/block_source.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/hybrid/classes.hpp>
#include <heapwise/hybrid/detail/chain.hpp>

namespace heapwise::detail::hybrids {

/// Every chunk starts at a multiple of this number and has this size. A chunk of one large block
/// has the size of that block. So the upper bits of an address name its chunk.
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
/// A sliced chunk is cut into slices. Each slice has blocks of one class. A refill carves a whole
/// slice.
inline constexpr std::size_t slice_bytes = std::size_t{16} << 10;
inline constexpr std::size_t slices_per_chunk = chunk_bytes / slice_bytes;

/// The use of a chunk. A `sliced` chunk is cut into slices of the size classes. A `region` belongs
/// to the best fit, which has many blocks in it. A `large` chunk holds one block.
enum class chunk_kind : unsigned char { none, sliced, region, large };

/// The head of a sliced chunk. It lies in slice 0, which holds nothing else.
struct sliced_chunk {
  sliced_chunk* next = nullptr;       ///< links all sliced chunks of a map; guarded by its lock
  std::uint32_t number = 0;           ///< its index in a lock-free depot
  std::atomic<std::size_t> carved{1}; ///< slices that were handed out
  /// The class of each slice plus 1; 0 if the slice is not carved. Relaxed: a thread that asks for
  /// the class of a block got the block from the thread that wrote the class.
  std::array<std::atomic<std::uint8_t>, slices_per_chunk> owner{};

  /// Effects: assigns slice `index` to a class and cuts it into blocks. Touches all of the slice.
  /// Returns: the chain of the blocks, in the order of their addresses.
  [[nodiscard]] block_chain carve(std::size_t index, std::size_t class_index) noexcept;
};

/// A table of chunks that is read without a lock. It uses open addressing over the numbers of the
/// chunks. A word is the address of a chunk and, in the bits that its alignment leaves free, its
/// kind.
///
/// Thread safety: all threads may call find, class_of and reserved_bytes at once, and these are
/// lock-free. All other functions take a lock. Complexity: O(1). Tables that were outgrown are kept
/// until destruction, because another thread may still read them. Together they are smaller than
/// the table in use.
class chunk_map {
 public:
  struct found {
    std::byte* base = nullptr;
    chunk_kind kind = chunk_kind::none;
  };

  explicit chunk_map(block_source& source) noexcept;
  chunk_map(const chunk_map&) = delete;
  chunk_map& operator=(const chunk_map&) = delete;
  ~chunk_map();

  /// Returns: the chunk whose first `chunk_bytes` hold the address; kind `none` if there is no such
  /// chunk.
  [[nodiscard]] found find(const void* address) const noexcept {
    const std::uintptr_t base = base_of(address);
    const table* const now = current_.load(std::memory_order_acquire); // pairs with `grow`
    for (std::size_t at = place_of(base, now->mask);; at = (at + 1) & now->mask) {
      // Relaxed: the thread got its block of this chunk through a lock or a list. That orders this
      // load after the store in `put`.
      const std::uintptr_t word = now->words[at].load(std::memory_order_relaxed);
      if ((word & ~kind_mask) == base && word > kind_mask) {
        return {reinterpret_cast<std::byte*>(base), static_cast<chunk_kind>(word & kind_mask)};
      }
      if (word == 0) return {};
    }
  }

  /// Returns: the class whose block starts at the address; `best_fit` if the chunk of the address
  /// is not sliced; `none` if the address is in no chunk, or is in a sliced chunk but is not the
  /// first byte of a block.
  [[nodiscard]] std::size_t class_of(const void* address) const noexcept {
    const found in = find(address);
    if (in.kind != chunk_kind::sliced) {
      return in.kind == chunk_kind::none ? routing::none : routing::best_fit;
    }
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - in.base);
    const auto* const chunk = reinterpret_cast<const sliced_chunk*>(in.base);
    const std::size_t owner = chunk->owner[offset / slice_bytes].load(std::memory_order_relaxed);
    if (owner == 0) return routing::none;
    const bool first_byte = (offset & (routing::block_bytes[owner - 1] - 1)) == 0;
    return first_byte ? owner - 1 : routing::none;
  }

  /// Returns: an empty sliced chunk, or nullptr if there is no memory. The map keeps the chunk
  /// until destruction.
  [[nodiscard]] sliced_chunk* take_sliced() noexcept;

  /// Returns: `size_bytes` of memory for the best fit, aligned to chunk_bytes; nullptr if there is
  /// none.
  [[nodiscard]] void* take(chunk_kind kind, std::size_t size_bytes) noexcept;
  /// Effects: gives back memory that `take` returned with the same size.
  void give_back(void* base, std::size_t size_bytes) noexcept;

  /// Effects: obtains memory outside of chunks. The source is called behind the lock of the map, so
  /// it need not be thread-safe. Returns: as block_source::allocate.
  [[nodiscard]] void* obtain(std::size_t size_bytes, std::size_t alignment) noexcept;
  void release(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept;

  /// Effects: all sliced chunks are empty again. They are kept. Requires: no other thread uses the
  /// map.
  void reset() noexcept;

  /// The lock that guards everything except the tables. No other lock of the allocator is taken
  /// while it is held, except around a fork.
  [[nodiscard]] std::mutex& lock() noexcept { return mutex_; }

  /// Returns: the bytes that were obtained from the source and not given back.
  [[nodiscard]] std::size_t reserved_bytes() const noexcept {
    return reserved_.load(std::memory_order_relaxed);
  }

 private:
  struct table {
    std::size_t mask;
    std::atomic<std::uintptr_t>* words;
    table* older;
  };
  static constexpr std::uintptr_t kind_mask = 3;
  static constexpr std::uintptr_t tombstone = kind_mask; // no chunk lies at address 0
  static constexpr std::size_t first_size = 64;

  static std::uintptr_t base_of(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) & ~(chunk_bytes - 1);
  }
  /// Fibonacci hashing (Knuth, volume 3, section 6.4): the upper bits of a product.
  static std::size_t place_of(std::uintptr_t base, std::size_t mask) noexcept {
    return ((base / chunk_bytes) * 0x9E37'79B9'7F4A'7C15u >> 32) & mask;
  }

  bool enter(std::uintptr_t word) noexcept;
  void leave(std::uintptr_t base) noexcept;
  bool grow() noexcept;
  void put(const table& into, std::uintptr_t word) noexcept;
  static std::size_t table_bytes(std::size_t size) noexcept;
  void* take_from_source(std::size_t size_bytes, std::size_t alignment) noexcept;
  void return_to_source(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept;
  void* take_chunk(chunk_kind kind, std::size_t size_bytes) noexcept;

  block_source* source_;
  std::atomic<table*> current_;
  std::atomic<std::size_t> reserved_{0};
  std::array<std::atomic<std::uintptr_t>, first_size> first_words_{};
  table first_;

  alignas(cache_line_bytes) std::mutex mutex_; // guards the members below, and writes to tables
  std::size_t used_ = 0;                       ///< words of the current table that are not 0
  sliced_chunk* chunks_ = nullptr;
  sliced_chunk* spare_ = nullptr; ///< the chunks of `chunks_` from here on are empty
};

/// Cuts slices off chunks, one after the other. Thread safety: none.
class slice_cutter {
 public:
  explicit slice_cutter(chunk_map& chunks) noexcept : chunks_{&chunks} {}

  /// Returns: the blocks of a fresh slice; an empty chain if there is no memory.
  [[nodiscard]] block_chain cut(std::size_t class_index) noexcept;
  /// Requires: the map was reset.
  void reset() noexcept { current_ = nullptr; }

 private:
  chunk_map* chunks_;
  sliced_chunk* current_ = nullptr;
};

} // namespace heapwise::detail::hybrids
