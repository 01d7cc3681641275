// A sample of the small blocks lies at the end of a page of its own, between pages without access:
// a touch behind it, or after it was freed, faults, and the fault is reported with the stacks that
// allocated and freed it (Serebryany et al., GWP-ASan, ICSE 2024).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "heap/base/invalid.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/expects.hpp"
#include "os/reports/faults.hpp"

namespace heapwise::detail {

class owned_blocks;

struct guarded_block {
  enum use : std::uint8_t { never, changing, live, freed };
  std::atomic<std::uint8_t> state{never};
  os::hidden_by hidden = os::hidden_by::protection; // its page, unless it is in use
  std::uint32_t bytes = 0;
  std::atomic<owned_blocks*> owner{nullptr}; // the heap of its own that the block belongs to
  std::uint64_t thread = 0;                  // that allocated it
  std::uint64_t freed_by = 0;
  os::stack_trace allocated;
  os::stack_trace released;
};

/// Thread safety: all, without a lock. A slot is used again after all others were.
class guarded_pages {
 public:
  static constexpr std::size_t slots = 64;

  /// Effects: has the addresses, if the system gives them. Requires: os::prepare_hiding().
  void start() noexcept;

  /// Returns: a block of the class in a guarded page if it is the turn of this one, else nullptr.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* sample(size_class class_index) noexcept {
    return base_ == nullptr || !is_due() ? nullptr : take(class_index);
  }

  /// Returns: as `sample`, a block of a heap of its own.
  [[nodiscard]] void* sample_for(owned_blocks& owner, size_class class_index) noexcept;

  /// Effects: frees the blocks of a heap of its own, which no other thread uses.
  void release_all_of(const owned_blocks& owner) noexcept;

  /// Returns: the heap of its own that a block in use belongs to, or nullptr. Requires:
  /// holds(block).
  [[nodiscard]] owned_blocks* owner_of(const void* block) const noexcept {
    expects(holds(block), "the address is in guarded pages");
    return around(block).owner.load(std::memory_order_relaxed);
  }

  [[nodiscard]] bool holds(const void* address) const noexcept {
    return base_ != nullptr &&
           reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_) <
               length_;
  }

  /// Effects: frees a block of these pages; an address in them that is not a block is reported.
  /// Returns: whether the address was in the pages.
  [[nodiscard]] bool release(std::byte* block) noexcept;

  /// Returns: what is wrong with an address in the pages that is not the first byte of a block in
  /// use. Requires: holds(address).
  [[nodiscard]] std::optional<invalid> fault_of(const void* address) const noexcept;

  /// Returns: the usable bytes of the block; 0 if it is not a block in use. Requires: holds(block).
  [[nodiscard]] std::size_t bytes_of(const void* block) const noexcept;

  /// Returns: the slot that an address belongs to; one in a gap, to the slot before. Requires:
  /// holds(address).
  [[nodiscard]] const guarded_block& around(const void* address) const noexcept {
    expects(holds(address), "the address is in guarded pages");
    return blocks_[slot_of(address)];
  }
  /// Returns: the first byte of the block of that slot.
  [[nodiscard]] const std::byte* begin_around(const void* address) const noexcept;

  /// Returns: as space::sealed_bytes, for what `start` writes.
  [[nodiscard]] std::size_t sealed_bytes() const noexcept {
    return reinterpret_cast<std::uintptr_t>(&next_) - reinterpret_cast<std::uintptr_t>(this);
  }

 private:
  [[nodiscard]] bool is_due() noexcept;
  [[nodiscard]] void* take(size_class class_index) noexcept;
  [[nodiscard]] std::size_t slot_of(const void* address) const noexcept;
  [[nodiscard]] std::byte* page_of(std::size_t slot) const noexcept;

  // What `start` writes.
  std::byte* base_ = nullptr;
  std::size_t length_ = 0;

  alignas(alignment_behind_seal<std::atomic<std::size_t>>) std::atomic<std::size_t> next_{0};
  std::array<guarded_block, slots> blocks_;
};
extern guarded_pages the_guards;

} // namespace heapwise::detail
