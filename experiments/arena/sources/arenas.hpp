// What frames take their memory from. A source has `allocate(bytes)` and `end_frame(blocks)`, which
// frees all that was allocated since the last one.
//
// optional: FOONATHAN = package foonathan_memory target foonathan_memory
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <new>
#include <span>

#include <heapwise/adapt/memory_resource.hpp>
#include <heapwise/arena.hpp>
#include <heapwise/block_source.hpp>

#if defined(HEAPWISE_HAS_FOONATHAN)
#include <foonathan/memory/memory_stack.hpp>
#endif

namespace arenas {

using blocks = std::span<void* const>;

/// What an arena is told: the largest request and the largest frame.
struct demand {
  std::size_t largest_request;
  std::size_t largest_frame;
};

/// Bytes that arenas have from the system, now and at most. For one thread.
class reserve {
 public:
  static void restart() noexcept { now_ = most_ = 0; }
  static void took(std::size_t bytes) noexcept { most_ = std::max(most_, now_ += bytes); }
  static void gave(std::size_t bytes) noexcept { now_ -= bytes; }
  [[nodiscard]] static std::size_t most() noexcept { return most_; }

 private:
  static inline std::size_t now_ = 0;
  static inline std::size_t most_ = 0;
};

/// The system's pages for Heapwise's arena, counted.
class counted_pages final : public heapwise::block_source {
 public:
  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override {
    void* const memory = heapwise::os_blocks().allocate(size_bytes, alignment);
    if (memory != nullptr) reserve::took(size_bytes);
    return memory;
  }
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override {
    reserve::gave(size_bytes);
    heapwise::os_blocks().deallocate(memory, size_bytes, alignment);
  }
  void* enlarge(void* memory, std::size_t size_bytes, std::size_t larger_bytes,
                std::size_t alignment) noexcept override {
    void* const larger = heapwise::os_blocks().enlarge(memory, size_bytes, larger_bytes, alignment);
    if (larger != nullptr) reserve::took(larger_bytes - size_bytes);
    return larger;
  }
  [[nodiscard]] std::size_t granularity_bytes() const noexcept override {
    return heapwise::os_blocks().granularity_bytes();
  }
};

/// Operator new for std::pmr, counted.
class counted_new final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const memory = std::pmr::new_delete_resource()->allocate(bytes, alignment);
    reserve::took(bytes);
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    reserve::gave(bytes);
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

/// heapwise::arena, which is told nothing.
class ours {
 public:
  explicit ours(const demand&) {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return arena_.allocate(bytes); }
  void end_frame(blocks) { arena_.reset(); }

 private:
  counted_pages pages_;
  heapwise::arena arena_{pages_};
};

/// The same behind std::pmr.
class ours_by_resource {
 public:
  explicit ours_by_resource(const demand&) {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return resource_.allocate(bytes); }
  void end_frame(blocks) { arena_.reset(); }

 private:
  counted_pages pages_;
  heapwise::arena arena_{pages_};
  heapwise::arena_resource resource_{arena_};
};

/// std::pmr's, which is told nothing: it keeps no memory from frame to frame.
class pmr_monotonic {
 public:
  explicit pmr_monotonic(const demand&) {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return resource_.allocate(bytes); }
  void end_frame(blocks) { resource_.release(); }

 private:
  counted_new upstream_;
  std::pmr::monotonic_buffer_resource resource_{&upstream_};
};

/// std::pmr's with a buffer into which the largest frame fits, and what its alignment takes.
class pmr_buffer {
 public:
  explicit pmr_buffer(const demand& wanted)
      : bytes_{wanted.largest_frame + wanted.largest_frame / 8},
        buffer_{upstream_.allocate(bytes_)},
        resource_{buffer_, bytes_, &upstream_} {}
  pmr_buffer(const pmr_buffer&) = delete;
  pmr_buffer& operator=(const pmr_buffer&) = delete;
  ~pmr_buffer() {
    resource_.release();
    upstream_.deallocate(buffer_, bytes_);
  }
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return resource_.allocate(bytes); }
  void end_frame(blocks) { resource_.release(); }

 private:
  counted_new upstream_;
  std::size_t bytes_;
  void* buffer_;
  std::pmr::monotonic_buffer_resource resource_;
};

#if defined(HEAPWISE_HAS_FOONATHAN)
struct counted_malloc {
  static void* allocate_node(std::size_t bytes, std::size_t) {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc{};
    reserve::took(bytes);
    return memory;
  }
  static void deallocate_node(void* memory, std::size_t bytes, std::size_t) noexcept {
    reserve::gave(bytes);
    std::free(memory);
  }
};

/// foonathan's memory_stack. Its first block must hold the largest request, or it throws.
class foonathan_stack {
 public:
  explicit foonathan_stack(const demand& wanted)
      : stack_{std::max(stack::min_block_size(wanted.largest_request + alignment), least)} {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) {
    return stack_.allocate(bytes, alignment);
  }
  void end_frame(blocks) { stack_.unwind(empty_); }

 private:
  using stack = foonathan::memory::memory_stack<counted_malloc>;
  static constexpr std::size_t alignment = alignof(std::max_align_t);
  static constexpr std::size_t least = std::size_t{64} << 10;

  stack stack_;
  stack::marker empty_ = stack_.top();
};
#endif

/// malloc, and a free for each block. Nothing tells what it has from the system.
class system_malloc {
 public:
  explicit system_malloc(const demand&) {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return std::malloc(bytes); }
  void end_frame(blocks all) {
    for (void* const block : all) std::free(block);
  }
};

} // namespace arenas
