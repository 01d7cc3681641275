// What the tests of the heap's parts stand on: a bin's cache, a heap without its clock, and a
// record of live blocks that sees what is handed out twice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "heap/base/options.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/central/batches.hpp"
#include "heap/central/bins.hpp"
#include "heap/central/mixed.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "stress/contents.hpp"

namespace heap_tests {

using namespace heapwise::detail;

/// Effects: starts the heap, whose memory goes back when a test says so, not when the clock does.
inline void start_without_clock() {
  the_options.purge_thread = purge_threads::none;
  if (!start_heap()) std::abort();
  the_options.purge_thread = purge_threads::none; // whatever the environment said
}

/// Effects: brings every free block of this thread and of those that ended back to its span.
inline void bring_everything_home() {
  empty_own_cache();
  empty_idle_caches();
  for (int pass = 0; pass < 2; ++pass) {
    for (size_class class_index = 1; class_index <= class_count; ++class_index)
      the_bins[class_index].trim(class_index);
  }
}

/// A batch of one class that is nobody's: what a bin gives it stays here.
class lone_batch {
 public:
  explicit lone_batch(size_class class_index) : of_{class_index}, batch_{new_batch(class_index)} {
    if (batch_ == nullptr) std::abort();
  }
  lone_batch(const lone_batch&) = delete;
  lone_batch& operator=(const lone_batch&) = delete;
  ~lone_batch() { delete_batch(batch_, of_); }

  /// Requires: it is empty.
  [[nodiscard]] bool refill(bin& from) {
    blocks_ = from.refill(batch_, of_);
    return blocks_ > 0;
  }
  /// Effects: hands a whole batch to the bin.
  void flush(bin& to, std::byte* const* blocks) {
    std::copy_n(blocks, class_table[of_].batch, batch_->blocks());
    to.flush(batch_, of_);
    if (batch_->bottom != nullptr) std::abort();
    blocks_ = 0;
  }
  /// Returns: the blocks in the order in which malloc would hand them out.
  std::vector<std::byte*> take_all() {
    std::vector<std::byte*> taken(batch_->blocks(), batch_->blocks() + blocks_);
    std::reverse(taken.begin(), taken.end());
    blocks_ = 0;
    return taken;
  }
  [[nodiscard]] const batch* memory() const { return batch_; }

 private:
  size_class of_;
  batch* batch_;
  std::uint32_t blocks_ = 0;
};

/// Returns: `count` blocks of a bin, in the order in which it hands them out.
inline std::vector<std::byte*> take_blocks(bin& from, size_class class_index, std::size_t count) {
  std::vector<std::byte*> taken;
  while (taken.size() < count) {
    lone_batch next{class_index};
    if (!next.refill(from)) return taken;
    const std::vector<std::byte*> more = next.take_all();
    const std::size_t used = std::min(more.size(), count - taken.size());
    taken.insert(taken.end(), more.begin(), more.begin() + static_cast<std::ptrdiff_t>(used));
    from.put_back(more.data() + used, more.size() - used, class_index);
  }
  return taken;
}

/// Effects: gives them back to their spans, past all caches.
inline void put_back(bin& into, const std::vector<std::byte*>& blocks, size_class class_index) {
  into.put_back(blocks.data(), blocks.size(), class_index);
}

/// Blocks in use, each filled with a sign of its own.
class live_blocks {
 public:
  /// Returns: whether the block shares no byte with any other.
  [[nodiscard]] bool add(void* block, std::size_t size) {
    const auto begin = reinterpret_cast<std::uintptr_t>(block);
    const auto above = blocks_.lower_bound(begin);
    if (above != blocks_.end() && above->first < begin + size) return false;
    if (above != blocks_.begin()) {
      const auto& [below, its] = *std::prev(above);
      if (below + its.size > begin) return false;
    }
    const auto sign = static_cast<unsigned char>(++signs_);
    std::memset(block, sign, size);
    blocks_.emplace(begin, kept{size, sign});
    return true;
  }

  /// Returns: whether it still holds what was written to it.
  [[nodiscard]] bool remove(void* block) {
    const auto entry = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
    if (entry == blocks_.end()) return false;
    const kept its = entry->second;
    blocks_.erase(entry);
    return stress::all_are(block, its.size, its.sign);
  }

  [[nodiscard]] std::size_t size() const { return blocks_.size(); }

 private:
  struct kept {
    std::size_t size;
    unsigned char sign;
  };
  std::map<std::uintptr_t, kept> blocks_;
  unsigned signs_ = 0;
};

} // namespace heap_tests
