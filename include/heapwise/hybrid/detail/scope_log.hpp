// The blocks that a thread allocated in its open scopes.
#pragma once

#include <cstddef>

#include <heapwise/hybrid/detail/chunk_map.hpp>

namespace heapwise::detail::hybrids {

/// The blocks of one thread's scopes, oldest first, and the place of each of them. So a block that
/// the program frees before its scope ends is struck out at once. When the log is full, places that
/// were struck out are used again. Thread safety: none. Complexity: O(1) on average for each block.
class scope_log {
 public:
  scope_log() noexcept = default;
  scope_log(const scope_log&) = delete;
  scope_log& operator=(const scope_log&) = delete;

  /// Returns: true if a scope is open.
  [[nodiscard]] bool open() const noexcept { return depth_ != 0; }
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }

  /// Effects: opens a scope. Returns: false if there is no memory.
  [[nodiscard]] bool begin(chunk_map& memory) noexcept;

  /// Requires: a scope is open. Effects: notes a block. Returns: false if there is no memory.
  [[nodiscard]] bool note(void* block, chunk_map& memory) noexcept;

  /// Effects: strikes a block out. Returns: false if it is in no open scope.
  bool strike(const void* block) noexcept;

  /// Effects: takes a block out of the innermost scope. If the scope has none, closes it.
  /// Requires: a scope is open.
  /// Returns: the block; nullptr if the scope had none.
  [[nodiscard]] void* take() noexcept;

  /// Effects: closes all scopes, forgets their blocks, and gives the memory back.
  void clear(chunk_map& memory) noexcept;

 private:
  /// An entry without a block is the beginning of a scope, or was struck out.
  struct entry {
    void* block;
    bool begins;
  };

  [[nodiscard]] bool add(entry added, chunk_map& memory) noexcept;
  [[nodiscard]] bool make_room(chunk_map& memory) noexcept;
  void squeeze(entry* into) noexcept;
  [[nodiscard]] std::size_t place_of(const void* block) const noexcept;
  [[nodiscard]] std::size_t find(const void* block) const noexcept;
  void index(std::size_t at) noexcept;
  void forget(std::size_t place) noexcept;
  [[nodiscard]] static std::size_t bytes_of(std::size_t capacity) noexcept;

  entry* entries_ = nullptr;
  std::size_t* places_ = nullptr; ///< a table by address of twice the capacity: entry + 1, or 0
  std::size_t capacity_ = 0;      ///< of entries, a power of two
  std::size_t size_ = 0;
  std::size_t struck_ = 0;
  std::size_t depth_ = 0;
};

} // namespace heapwise::detail::hybrids
