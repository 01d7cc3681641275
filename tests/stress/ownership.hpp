// The owner of each block: finds blocks that two threads were given at once, and data that was
// lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "contents.hpp"

namespace stress {

/// One flag for each block of a pool whose blocks are known, and a cookie in each block that is
/// out. Thread safety: take and give may be called by all threads at once.
class ownership {
 public:
  /// Requires: `blocks` are all blocks that will ever be seen, of `block_size` bytes >= 16.
  ownership(const std::vector<void*>& blocks, std::size_t block_size)
      : flags_(blocks.size()), block_size_{block_size} {
    for (std::size_t i = 0; i < blocks.size(); ++i) index_of_.emplace(blocks[i], i);
  }

  /// Effects: notes that a block was handed out, and signs all of it.
  /// Returns: false if the block is unknown or out already.
  bool take(void* block, std::uint64_t cookie) noexcept {
    const auto entry = index_of_.find(block);
    if (entry == index_of_.end()) return false;
    // Relaxed: the flag must not order what the pool is to order, or sanitizers see nothing.
    if (flags_[entry->second].exchange(true, std::memory_order_relaxed)) return false;
    sign(block, cookie);
    return true;
  }

  /// Effects: notes that a block is about to be freed. Returns: false if it was not out or its
  /// content is not what was signed.
  bool give(void* block) noexcept {
    const bool intact = is_intact(block);
    return flags_[index_of_.at(block)].exchange(false, std::memory_order_relaxed) && intact;
  }

 private:
  void sign(void* block, std::uint64_t cookie) const noexcept {
    auto* const bytes = static_cast<std::byte*>(block);
    std::memcpy(bytes, &cookie, sizeof cookie);
    const auto rest = static_cast<int>(cookie & 0xFF);
    std::memset(bytes + sizeof cookie, rest, block_size_ - sizeof cookie);
  }
  [[nodiscard]] bool is_intact(const void* block) const noexcept {
    const auto* const bytes = static_cast<const std::byte*>(block);
    std::uint64_t cookie;
    std::memcpy(&cookie, bytes, sizeof cookie);
    const auto rest = static_cast<unsigned char>(cookie & 0xFF);
    return all_are(bytes + sizeof cookie, block_size_ - sizeof cookie, rest);
  }

  std::unordered_map<const void*, std::size_t> index_of_;
  std::vector<std::atomic<bool>> flags_;
  std::size_t block_size_;
};

} // namespace stress
