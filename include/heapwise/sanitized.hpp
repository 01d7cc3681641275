// A checking policy for programs that run under the address sanitizer or Valgrind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <heapwise/checking.hpp>
#include <heapwise/detail/poison.hpp>

namespace heapwise::detail::inline v0_2 {

/// Links in blocks that are hidden from the program. Each access shows the word only while it reads
/// or writes it. Only the thread that has the list touches its free blocks.
struct hidden_links {
  static constexpr bool unrolled = false;
  static void store(void* block, void* next) noexcept {
    show(block, sizeof(void*));
    *static_cast<void**>(block) = next;
    hide(block, sizeof(void*));
  }
  static void* load(const void* block) noexcept {
    show_written(block, sizeof(void*));
    void* const next = *static_cast<void* const*>(block);
    hide(block, sizeof(void*));
    return next;
  }
};

} // namespace heapwise::detail::inline v0_2

namespace heapwise::inline v0_2 {

/// For programs that run under the address sanitizer or Valgrind. Blocks that are free, or were
/// never handed out, are hidden from the program. The tool then reports each read and each write of
/// such a block, with the place in the program, and each double free. A pointer that is not a block
/// is refused. In a lock_free pool, the first word of a free block is not hidden, because other
/// threads may still be looking at it.
///
/// Requires: the program is compiled with -fsanitize=address, or with HEAPWISE_USE_VALGRIND defined
/// (which needs Valgrind's headers). Otherwise nothing is hidden. All code that uses the same pool
/// is compiled in the same way.
///
/// Cost: one call of the tool for each operation. Free blocks form a plain chain.
///
/// Thread safety: keep_links_visible is called before all other functions. Then all threads may
/// call the others at once, each call with a different block.
class sanitized : public foreign_checked {
 public:
  static constexpr bool enabled = true;
  using links = detail::hidden_links;

  /// Returns: how a pool marks memory that it obtains and gives back.
  static constexpr detail::memory_marks marks() noexcept { return detail::marks_here(); }

  /// Returns: how a pool reads and writes the link in a free block.
  [[nodiscard]] constexpr links make_links() const noexcept { return {}; }
  /// Effects: from now on, the first word of a free block stays visible.
  void keep_links_visible() noexcept { visible_bytes_ = sizeof(std::uint64_t); }

  /// Effects: shows the block to the program.
  void acquire(void* block, std::size_t block_size) const noexcept {
    detail::show(block, block_size);
  }
  /// Effects: lets the tool report the block if it is hidden, and so free already.
  void claim(void* block, std::size_t block_size) const noexcept {
    if (block_size > visible_bytes_) detail::demand_shown(last_byte(block, block_size));
  }
  /// Effects: as claim; then hides the block from the program.
  void release(void* block, std::size_t block_size) const noexcept {
    claim(block, block_size);
    // A link needs a word, also in a smaller block.
    if (visible_bytes_ != 0) detail::show_written(block, visible_bytes_);
    if (block_size <= visible_bytes_) return;
    detail::hide(static_cast<std::byte*>(block) + visible_bytes_, block_size - visible_bytes_);
  }

 private:
  static const std::byte* last_byte(const void* block, std::size_t block_size) noexcept {
    return static_cast<const std::byte*>(block) + block_size - 1;
  }

  std::size_t visible_bytes_ = 0;
};

/// The checking of a pool that does not name one: `sanitized` in code that is compiled for the
/// address sanitizer or Valgrind, else `foreign_checked`. So `pool<>` is a different type in such
/// code. If code that was compiled in different ways passes such pools around, it does not link.
using default_checking = std::conditional_t<detail::marks_memory, sanitized, foreign_checked>;

} // namespace heapwise::inline v0_2
