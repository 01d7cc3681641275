// The chunks of a hybrid allocator, and the search for the chunk of an address.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <heapwise/block_source.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/hybrid/chain.hpp>
#include <heapwise/hybrid/classes.hpp>

namespace heapwise::detail::hybrids {

/// Every chunk starts at a multiple of this and is this large (single large blocks: larger), so
/// that an address names its chunk by its upper bits.
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
/// A chunk is cut into slices, each for blocks of one class. A refill carves a whole slice.
inline constexpr std::size_t slice_bytes = std::size_t{16} << 10;
inline constexpr std::size_t slices_per_chunk = chunk_bytes / slice_bytes;

/// What a chunk is for. `sliced` is cut into classes; `region` belongs to the best fit, which has
/// many blocks in it; `large` holds one block.
enum class chunk_kind : unsigned char { none, sliced, region, large };

/// The head of a sliced chunk, in its slice 0, which holds nothing else.
struct sliced_chunk {
  sliced_chunk* next = nullptr;       ///< links all of a map; guarded by the map's lock
  std::uint32_t number = 0;           ///< its index in a lock-free depot
  std::atomic<std::size_t> carved{1}; ///< slices that were handed out
  /// The class of each slice plus 1; 0: not carved. Relaxed: the thread that asks for the class of
  /// a block got the block from the thread that wrote it.
  std::array<std::atomic<std::uint8_t>, slices_per_chunk> owner{};

  /// Effects: gives slice `index` to a class and cuts it into blocks.
  /// Returns: the chain of them, in the order of their addresses. Touches all of the slice.
  [[nodiscard]] block_chain carve(std::size_t index, std::size_t class_index) noexcept;
};

/// A table of chunks that is read without a lock: open addressing over the chunks' numbers. A word
/// is a chunk's address and, in the bits that alignment leaves free, its kind.
///
/// Thread safety: find and class_of by all at once, lock-free; the rest takes a lock. Complexity:
/// O(1). Tables that were outgrown are kept to the end, as a reader may still look into them: they
/// add up to less than the one in use.
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

  /// Returns: the chunk whose first `chunk_bytes` hold the address.
  [[nodiscard]] found find(const void* address) const noexcept {
    const std::uintptr_t base = base_of(address);
    const table* const now = current_.load(std::memory_order_acquire); // pairs with `grow`
    for (std::size_t at = place_of(base, now->mask);; at = (at + 1) & now->mask) {
      // Relaxed: the thread got its block of this chunk through a lock or a list, which orders this
      // load after the store in `put`.
      const std::uintptr_t word = now->words[at].load(std::memory_order_relaxed);
      if ((word & ~kind_mask) == base && word > kind_mask) {
        return {reinterpret_cast<std::byte*>(base), static_cast<chunk_kind>(word & kind_mask)};
      }
      if (word == 0) return {};
    }
  }

  /// Returns: the class whose block starts at the address; `best_fit` for a chunk that is not
  /// sliced; `none` for an address that is not a block's first byte.
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

  /// Returns: an empty sliced chunk, or nullptr. It stays with the map.
  [[nodiscard]] sliced_chunk* take_sliced() noexcept;

  /// Returns: `size_bytes` of memory of the best fit, aligned to chunk_bytes, or nullptr.
  [[nodiscard]] void* take(chunk_kind kind, std::size_t size_bytes) noexcept;
  /// Effects: gives back what `take` returned, with the same size.
  void give_back(void* base, std::size_t size_bytes) noexcept;

  /// Memory outside of chunks: the source behind the map's lock, so that it need not be safe for
  /// several threads itself. Returns: as block_source::allocate.
  [[nodiscard]] void* obtain(std::size_t size_bytes, std::size_t alignment) noexcept;
  void release(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept;

  /// Effects: all sliced chunks are empty again, and kept. Requires: nobody else uses the map.
  void reset() noexcept;

  /// The lock that guards everything except the tables. No other lock of the allocator is taken
  /// while it is held, except around a fork.
  [[nodiscard]] std::mutex& lock() noexcept { return mutex_; }

  /// Bytes obtained from the source and not given back.
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

  alignas(cache_line_bytes) std::mutex mutex_; // guards all that follows, and writes to tables
  std::size_t used_ = 0;                       ///< words of the current table that are not 0
  sliced_chunk* chunks_ = nullptr;
  sliced_chunk* spare_ = nullptr; ///< those of `chunks_` from here on are empty
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
