// An arena: memory that is allocated piece by piece and freed all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <heapwise/block_source.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/failure.hpp>
#include <heapwise/detail/poison.hpp>

namespace heapwise::inline v0_2 {

/// Hands out memory from front to back of chunks, and takes all of it back in one step.
///
/// - an allocation only moves an address up. There is no function that frees one block, and there
///   are no bytes beside a block. An object with a destructor takes four words more, and is
///   destroyed when its memory is freed.
/// - a new chunk has a quarter of the bytes that are reserved. It is not smaller than the first
///   chunk, and not larger than 4 MiB if the first chunk is smaller than that. A larger request
///   gets a chunk that fits.
/// - `reset` keeps the chunks for the next allocations, `release` gives them back to the source,
///   and `rewind` frees what was allocated since a mark.
/// - a request that does not fit takes the first free chunk that is large enough. If there is none,
///   one chunk replaces all free chunks, and is at least as large as all of them together. It is
///   the largest of them, enlarged, or a new chunk. Of this chunk and the chunk in use before, the
///   chunk with more room left serves the next requests. After `reset` the same requests in the
///   same order do not need the source; after others between, they may.
/// - chunks that are replaced are lost if the source cannot take them back (`static_blocks`). With
///   such a source, the first chunk should have the size of the buffer.
///
/// In code that is compiled for the address sanitizer or Valgrind (see sanitized), memory that is
/// not handed out is hidden, and the tool reports each access to it. All code that uses the same
/// arena must be compiled in the same way.
///
/// Thread safety: one thread at a time.
class arena {
  struct chunk;
  struct ender;

 public:
  static constexpr std::size_t default_chunk_bytes = std::size_t{64} << 10;

  /// Effects: obtains no memory yet. Chunks come from `source` when something is allocated.
  /// `first_chunk_bytes` is the size of the first chunk, if the first request fits into it.
  /// Requires: `source` outlives the arena.
  HEAPWISE_ALWAYS_INLINE explicit arena(
      block_source& source = os_blocks(),
      std::size_t first_chunk_bytes = default_chunk_bytes) noexcept
      : source_{&source}, first_chunk_bytes_{first_chunk_bytes}, marks_{detail::marks_here()} {}

  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Effects: this arena gets the memory of `other`. All that was allocated stays where it is.
  /// Assignment first releases the memory of this arena. `other` is empty then. After construction
  /// it has its source as before, and after assignment the source that this arena had. An
  /// arena_resource that points to `other` still points there.
  arena(arena&& other) noexcept : arena{*other.source_, other.first_chunk_bytes_} { swap(other); }
  arena& operator=(arena&& other) noexcept {
    if (this == &other) return *this;
    release();
    std::swap(source_, other.source_);
    std::swap(first_chunk_bytes_, other.first_chunk_bytes_);
    swap(other);
    return *this;
  }
  ~arena() { release(); }

  /// Requires: `alignment` is a power of two.
  /// Returns: `size_bytes` of memory aligned to `alignment`, never nullptr. Valid until reset,
  /// release, destruction, or a rewind to an older mark.
  /// Throws: std::bad_alloc if the source has no more memory (see pool for programs without
  /// exceptions).
  /// Complexity: O(1). If the request does not fit into the chunk in use: O(free chunks), and the
  /// complexity of the source.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* allocate(
      std::size_t size_bytes, std::size_t alignment = alignof(std::max_align_t)) {
    void* const memory = try_allocate(size_bytes, alignment);
    if (memory == nullptr) [[unlikely]]
      detail::throw_bad_alloc();
    return memory;
  }

  /// Returns: as allocate, or nullptr if the source has no more memory.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* try_allocate(
      std::size_t size_bytes, std::size_t alignment = alignof(std::max_align_t)) noexcept {
    const std::uintptr_t begin = (next_ + (alignment - 1)) & ~(std::uintptr_t{alignment} - 1);
    if (begin < next_ || begin > end_ || size_bytes > end_ - begin) [[unlikely]]
      return grow(size_bytes, alignment);
    next_ = begin + size_bytes;
    detail::show(reinterpret_cast<void*>(begin), size_bytes);
    return reinterpret_cast<void*>(begin);
  }

  /// Returns: an object in the arena. If it has a destructor, it is destroyed when its memory is
  /// freed (by reset, release, rewind or destruction of the arena), the newest object first.
  /// Throws: std::bad_alloc, and what the constructor throws.
  template <class T, class... Arguments>
  [[nodiscard]] T* create(Arguments&&... arguments) {
    ender* const end = make_ender<T>();
    T* const object = std::construct_at(static_cast<T*>(allocate(sizeof(T), alignof(T))),
                                        std::forward<Arguments>(arguments)...);
    remember(end, object, 1);
    return object;
  }

  /// Returns: `count` objects that are value-initialized (numbers are 0). They are destroyed as
  /// objects of create are, the last element first. Throws: std::bad_alloc, and what the
  /// constructor throws. If a constructor throws, the elements that were made before are destroyed.
  template <class T>
  [[nodiscard]] std::span<T> create_array(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      detail::throw_bad_array_new_length();
    }
    ender* const end = make_ender<T>();
    T* const first = static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(first, count);
    remember(end, first, count);
    return {first, count};
  }

  /// Effects: all memory that was allocated is free. Objects of create are destroyed. Chunks are
  /// kept.
  /// Requires: the program no longer uses what was allocated. No destructor uses the arena.
  /// Complexity: O(1) plus O(objects with a destructor).
  void reset() noexcept;

  /// Effects: as reset, and all chunks go back to the source. Complexity: as reset, plus O(chunks).
  void release() noexcept;

  /// A point in time. The arena can free in one call all blocks that were allocated later. See
  /// mark.
  class marker {
    friend class arena;
    chunk* current = nullptr; // nullptr: nothing was allocated
    chunk* last_used = nullptr;
    std::uintptr_t next = 0;
    ender* last_ender = nullptr;
  };

  /// Returns: a marker for all that is allocated now. The marker is valid until reset, release or a
  /// rewind to an older marker. Complexity: O(1).
  [[nodiscard]] marker mark() const noexcept;

  /// Effects: all memory that was allocated since the mark is free. Objects that were created since
  /// the mark are destroyed. Chunks are kept.
  /// Requires: the marker is valid, and is from this arena or from an arena that was moved here.
  /// The program no longer uses what was allocated since the mark. No destructor uses the arena.
  /// Complexity: O(1) plus O(objects with a destructor).
  void rewind(const marker& to) noexcept;

  /// Returns: the bytes obtained from the source.
  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return reserved_bytes_; }

 private:
  /// Says how to destroy objects with a destructor. It lies in the arena, in front of these
  /// objects.
  struct ender {
    ender* older;
    void (*destroy)(void* objects, std::size_t count) noexcept;
    void* objects;
    std::size_t count;
  };

  /// Returns: an ender for objects of T, or nullptr if T has no destructor. Throws: std::bad_alloc.
  template <class T>
  [[nodiscard]] ender* make_ender() {
    if constexpr (std::is_trivially_destructible_v<T>) {
      return nullptr;
    } else {
      static_assert(std::is_nothrow_destructible_v<T>);
      const auto destroy = [](void* objects, std::size_t count) noexcept {
        T* const first = static_cast<T*>(objects);
        while (count-- != 0) std::destroy_at(first + count);
      };
      return std::construct_at(static_cast<ender*>(allocate(sizeof(ender), alignof(ender))),
                               ender{nullptr, destroy, nullptr, 0});
    }
  }

  void remember(ender* end, const void* objects, std::size_t count) noexcept {
    if (end == nullptr) return;
    end->objects = const_cast<void*>(objects);
    end->count = count;
    end->older = enders_;
    enders_ = end;
  }

  /// Effects: destroys the objects that were remembered after `last`, the newest first.
  void end_objects(const ender* last) noexcept;

  /// Effects: exchanges the memory of two arenas.
  void swap(arena& other) noexcept {
    std::swap(next_, other.next_);
    std::swap(end_, other.end_);
    std::swap(current_, other.current_);
    std::swap(first_, other.first_);
    std::swap(last_used_, other.last_used_);
    std::swap(enders_, other.enders_);
    std::swap(reserved_bytes_, other.reserved_bytes_);
  }

  struct chunk {
    chunk* next;
    std::size_t size_bytes; // of all of it
  };

  /// Effects: allocates from a free chunk that is large enough, or from a new one.
  HEAPWISE_COLD void* grow(std::size_t size_bytes, std::size_t alignment) noexcept;
  /// Effects: takes the first chunk that is large enough off the list `free`.
  static chunk* take_free(chunk*& free, std::size_t least_bytes) noexcept;
  /// Effects: obtains a chunk that is as large as all chunks of the list `free` together, and gives
  /// these back. If the source has no such chunk, obtains a chunk of `least_bytes` and keeps the
  /// list.
  chunk* replace_free(chunk*& free, std::size_t least_bytes) noexcept;
  /// Effects: enlarges the largest chunk of the list `free` and takes it off the list. Returns: the
  /// chunk; nullptr if the source cannot enlarge it, and then nothing has changed.
  chunk* enlarge_free(chunk*& free, std::size_t least_bytes) noexcept;
  [[nodiscard]] chunk* make_chunk(std::size_t least_bytes) noexcept;
  /// Returns: a size of which the source wastes no bytes; 0 if there is none.
  [[nodiscard]] std::size_t rounded_bytes(std::size_t least_bytes) const noexcept;
  void give_back(chunk* chunks) noexcept;
  [[nodiscard]] std::size_t usual_bytes() const noexcept;
  void enter(chunk& entered) noexcept;
  /// Returns: true if nothing was allocated since the last reset: the chunk in use is the first
  /// chunk, and all of it is free.
  [[nodiscard]] bool is_empty() const noexcept {
    return current_ == nullptr || next_ == begin_of(*first_);
  }
  /// Effects: goes back to the first chunk.
  void restart() noexcept;
  /// Effects: marks all of a chunk as not handed out, if anything is marked.
  void hide(chunk& hidden) const noexcept;
  static std::uintptr_t begin_of(chunk& entered) noexcept {
    return reinterpret_cast<std::uintptr_t>(&entered + 1);
  }

  // The rest of the chunk in use. If there is no chunk, the rest begins behind its end, so that not
  // even a request of 0 bytes fits.
  std::uintptr_t next_ = 1;
  std::uintptr_t end_ = 0;
  // The chunks from the first to the last used are in use, and the others are free. Requests go to
  // one of the chunks in use.
  chunk* current_ = nullptr;
  chunk* first_ = nullptr;
  chunk* last_used_ = nullptr;
  ender* enders_ = nullptr; // the newest, which leads to the older ones
  block_source* source_;
  std::size_t first_chunk_bytes_;
  std::size_t reserved_bytes_ = 0;
  detail::memory_marks marks_; // for memory that is not handed out
};

} // namespace heapwise::inline v0_2
