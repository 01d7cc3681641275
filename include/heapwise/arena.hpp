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

namespace heapwise::inline v0_1 {

/// Hands out memory from front to back of chunks, and takes all of it back in one step.
///
/// - to allocate is to move an address up; there is nothing to free one block with, and no bytes
///   beside a block. An object with a destructor takes four words more, and is destroyed when its
///   memory is freed.
/// - a new chunk has a quarter of what is reserved, but not less than the first, and not more than
///   4 MiB if the first has less. A larger request gets a chunk that fits.
/// - `reset` keeps the chunks for the next allocations, `release` gives them back to the source,
///   `rewind` frees what was allocated since a mark.
/// - a request that does not fit takes the first free chunk that is large enough. If there is none,
///   one chunk replaces all free ones and is at least as large as all of them: the largest of them,
///   enlarged, or a new one. Of that chunk and the one in use before, the one with more room left
///   serves the next requests. The same requests in the same order never need the source again.
/// - chunks that are replaced are lost if the source cannot take them back (`static_blocks`). Over
///   such a source the first chunk should have the size of the buffer.
///
/// In code that is compiled for the address sanitizer or Valgrind (see sanitized), memory that is
/// not handed out is hidden: the tool reports each access. All code that uses the same arena is
/// compiled in the same way.
///
/// Thread safety: one thread at a time.
class arena {
  struct chunk;
  struct ender;

 public:
  static constexpr std::size_t default_chunk_bytes = std::size_t{64} << 10;

  /// Effects: none yet; chunks come from `source`, which must outlive the arena, when there is
  /// something to put into them. `first_chunk_bytes` is the size of the first, if the first request
  /// fits into it.
  HEAPWISE_ALWAYS_INLINE explicit arena(
      block_source& source = os_blocks(),
      std::size_t first_chunk_bytes = default_chunk_bytes) noexcept
      : source_{&source}, first_chunk_bytes_{first_chunk_bytes}, marks_{detail::marks_here()} {}

  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Effects: this arena has the memory of `other`, and what was allocated stays where it is.
  /// Assignment first releases what this arena had. `other` is empty then, with the same source.
  /// An arena_resource that points to `other` still points there.
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

  /// Returns: `size_bytes` of memory aligned to `alignment`, never nullptr. Valid until reset,
  /// release or destruction. Requires: `alignment` is a power of two.
  /// Throws: std::bad_alloc when the source has no more (see pool for programs without exceptions).
  /// Complexity: O(1); if the request does not
  /// fit into the chunk in use, O(free chunks) and the source's.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* allocate(
      std::size_t size_bytes, std::size_t alignment = alignof(std::max_align_t)) {
    void* const memory = try_allocate(size_bytes, alignment);
    if (memory == nullptr) [[unlikely]]
      detail::throw_bad_alloc();
    return memory;
  }

  /// Returns: as allocate, or nullptr when the source has no more.
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
  /// freed (reset, release, rewind or destruction of the arena), the newest object first.
  /// Throws: std::bad_alloc, and what the constructor throws.
  template <class T, class... Arguments>
  [[nodiscard]] T* create(Arguments&&... arguments) {
    ender* const end = make_ender<T>();
    T* const object = std::construct_at(static_cast<T*>(allocate(sizeof(T), alignof(T))),
                                        std::forward<Arguments>(arguments)...);
    remember(end, object, 1);
    return object;
  }

  /// Returns: `count` objects that are value-initialized (numbers are 0). Destroyed as by create,
  /// the last element first. Throws: std::bad_alloc, and what the constructor throws; the elements
  /// that were made are destroyed then.
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

  /// Effects: all that was allocated is free; chunks are kept. Objects of create are destroyed.
  /// Requires: nothing that was allocated is used any more; no destructor uses the arena.
  /// Complexity: O(1), and O(objects with a destructor).
  void reset() noexcept;

  /// Effects: as reset, and all chunks go back to the source. Complexity: as reset, and O(chunks).
  void release() noexcept;

  /// A point in time: an arena can free all later blocks at once. See mark.
  class marker {
    friend class arena;
    chunk* current = nullptr; // nullptr: nothing was allocated
    chunk* last_used = nullptr;
    std::uintptr_t next = 0;
    ender* last_ender = nullptr;
  };

  /// Returns: a marker for all that is allocated now. It is valid until reset, release or a rewind
  /// to an older one. Complexity: O(1).
  [[nodiscard]] marker mark() const noexcept;

  /// Effects: all that was allocated since the mark is free; chunks are kept. Objects that were
  /// created since are destroyed.
  /// Requires: the marker is valid, and of this arena or of one that was moved here; nothing that
  /// was allocated since is used any more; no destructor uses the arena. Complexity: O(1), and
  /// O(objects with a destructor).
  void rewind(const marker& to) noexcept;

  /// Returns: the bytes obtained from the source.
  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return reserved_bytes_; }

 private:
  /// How objects with a destructor are ended. It lies in the arena, in front of them.
  struct ender {
    ender* older;
    void (*destroy)(void* objects, std::size_t count) noexcept;
    void* objects;
    std::size_t count;
  };

  /// Returns: nullptr if T has no destructor. Throws: std::bad_alloc.
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
  /// Effects: takes the first chunk of the list `free` that is large enough off it.
  static chunk* take_free(chunk*& free, std::size_t least_bytes) noexcept;
  /// Effects: obtains a chunk that is as large as all of the list `free`, and gives that back. If
  /// the source has no such chunk, obtains one of `least_bytes` and keeps the list.
  chunk* replace_free(chunk*& free, std::size_t least_bytes) noexcept;
  /// Effects: enlarges the largest chunk of the list `free` and takes it off. Returns: nullptr if
  /// the source cannot do that, and nothing changed.
  chunk* enlarge_free(chunk*& free, std::size_t least_bytes) noexcept;
  [[nodiscard]] chunk* make_chunk(std::size_t least_bytes) noexcept;
  /// Returns: a size that the source wastes nothing of; 0 if there is none.
  [[nodiscard]] std::size_t rounded_bytes(std::size_t least_bytes) const noexcept;
  void give_back(chunk* chunks) noexcept;
  [[nodiscard]] std::size_t usual_bytes() const noexcept;
  void enter(chunk& entered) noexcept;
  /// Returns: true if nothing was allocated since the last reset: the chunk in use is the first,
  /// and free as well.
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

  // The rest of the chunk in use. Without one it begins behind its end, so that not even nothing
  // fits.
  std::uintptr_t next_ = 1;
  std::uintptr_t end_ = 0;
  // Chunks from the first to the last used are in use, the others are free. Requests go to one of
  // those in use.
  chunk* current_ = nullptr;
  chunk* first_ = nullptr;
  chunk* last_used_ = nullptr;
  ender* enders_ = nullptr; // the newest, which leads to the older ones
  block_source* source_;
  std::size_t first_chunk_bytes_;
  std::size_t reserved_bytes_ = 0;
  detail::memory_marks marks_; // for memory that is not handed out
};

} // namespace heapwise::inline v0_1
