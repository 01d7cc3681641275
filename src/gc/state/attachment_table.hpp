// What a program has attached to blocks, found by the block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gc/base/exported.hpp"
#include "os/collector/world.hpp"

namespace heapwise::gc {

struct weak_target;

/// All that is attached to one block.
struct attachment {
  std::uintptr_t hidden; // the complement of the block's address, so that this does not keep it
  void* kept;            // the block itself while it is kept
  std::size_t keepers;   // calls that keep it, and were not taken back
  heapwise_gc_finalizer* call;
  void* argument; // of `call`
  bool unordered; // it does not wait for the finalizers of blocks that lead to this one
  weak_target* weak;

  [[nodiscard]] void* block() const noexcept { return reinterpret_cast<void*>(~hidden); }
  [[nodiscard]] bool is_empty() const noexcept {
    return keepers == 0 && call == nullptr && weak == nullptr;
  }
};

/// Open addressing; what is removed leaves no gap. All under the collector's lock. Its words are
/// roots: they keep what is kept, and the arguments of finalizers.
class attachment_table {
 public:
  /// Returns: that of the block, or nullptr.
  [[nodiscard]] attachment* find(const void* block) noexcept;

  /// Returns: that of the block, an empty one if there was none; nullptr without memory.
  [[nodiscard]] attachment* find_or_add(const void* block) noexcept;

  /// Effects: takes it out. Other attachments may move. Complexity: constant on average.
  void remove(attachment* entry) noexcept;

  /// Effects: calls `visit` for each attachment. It may neither add nor remove.
  template <class Visit>
  void each(Visit visit) noexcept {
    for (std::size_t place = 0; place < room_; ++place) {
      if (places_[place].hidden != 0) visit(places_[place]);
    }
  }

  template <class IsGone>
  void remove_if(IsGone is_gone) noexcept {
    for (std::size_t place = 0; place < room_;) {
      attachment& here = places_[place];
      if (here.hidden != 0 && is_gone(here)) {
        remove(&here); // and look again: another one may have moved here
      } else {
        ++place;
      }
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] os::memory_range words() const noexcept { return {places_, places_ + room_}; }

 private:
  [[nodiscard]] std::size_t home_of(std::uintptr_t hidden) const noexcept;
  [[nodiscard]] attachment& place_of(std::uintptr_t hidden) const noexcept;
  [[nodiscard]] bool grow() noexcept;

  attachment* places_ = nullptr;
  std::size_t room_ = 0; // a power of two, or 0
  std::size_t size_ = 0;
};

} // namespace heapwise::gc
