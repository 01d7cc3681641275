// Thread policy: one thread at a time uses the pool, so synchronization costs nothing.
#pragma once

#include <cstddef>

#include <heapwise/checking.hpp>
#include <heapwise/detail/block_stack.hpp>
#include <heapwise/detail/chunks.hpp>
#include <heapwise/detail/config.hpp>

namespace heapwise::inline v0_2 {

/// One thread at a time uses the pool. The user must ensure that.
struct unsynchronized {
  static constexpr const char* name = "unsynchronized";
  static constexpr bool thread_safe = false;
  static constexpr std::size_t min_stride_bytes = sizeof(void*);

  template <class Checking>
  class core;
};

template <class Checking>
class unsynchronized::core {
 public:
  core(detail::chunks* chunks, const Checking& check) noexcept
      : chunks_{chunks},
        check_{check},
        free_{check.make_links()},
        stride_bytes_{chunks->shape().stride_bytes},
        divider_{chunks->shape().divider} {
    carve_from(chunks->newest());
  }

  HEAPWISE_ALWAYS_INLINE void* pop() noexcept {
    void* block = free_.pop();
    if (block == nullptr) [[unlikely]]
      block = carve();
    if constexpr (Checking::enabled) {
      if (block != nullptr) check_.acquire(block, chunks_->shape().block_size);
    }
    return block;
  }

  HEAPWISE_ALWAYS_INLINE bool push(void* block) noexcept {
    if constexpr (!Checking::enabled) {
      if (free_.is_last(block)) [[likely]]
        return free_.push_last();
    }
    if constexpr (Checking::refuses_foreign) {
      if (!contains(block)) [[unlikely]]
        return refuse_foreign(block);
    } else if (block == nullptr) {
      return false;
    }
    if constexpr (Checking::enabled) check_.release(block, chunks_->shape().block_size);
    return free_.push(block);
  }

  /// Returns: false for a pointer that is not a block. With foreign_checked, also false for the
  /// block that was freed last.
  HEAPWISE_ALWAYS_INLINE bool claim(void* block) noexcept {
    if constexpr (!Checking::enabled) {
      if (free_.is_last(block)) [[likely]]
        return !free_.is_top(block);
    }
    if (!contains(block)) [[unlikely]]
      return refuse_foreign(block);
    if constexpr (!Checking::enabled) {
      if (free_.is_top(block)) [[unlikely]]
        return false;
    }
    check_.claim(block, chunks_->shape().block_size);
    return true;
  }

  /// Returns: true for a block that was handed out at least once.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool contains(const void* address) const noexcept {
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_);
    if (divider_.is_block(offset, carved_bound_)) [[likely]]
      return true;
    return chunks_->index_of(address) < first_index_ + carved_;
  }

  [[nodiscard]] std::size_t budget_bytes() const noexcept { return 0; }

  /// Returns: how many blocks of all chunks together were cut. They are the blocks with an index
  /// below this number.
  [[nodiscard]] std::size_t carved() const noexcept { return first_index_ + carved_; }

  template <class Visit>
  bool visit_free(Visit&& visit) {
    free_.visit(visit);
    return true;
  }

  void restart(std::size_t carved) noexcept {
    free_ = detail::block_stack{check_.make_links()};
    carve_from(chunks_->holding(carved == 0 ? 0 : carved - 1));
    carved_ = carved - first_index_;
    carved_bound_ = divider_.bound_of(carved_);
    fresh_ += carved_ * stride_bytes_;
  }

  void put_back(void* block) noexcept { static_cast<void>(free_.push(block)); }

 private:
  bool refuse_foreign(const void* address) const noexcept {
    check_.refuse(address, chunks_->shape().block_size);
    return false;
  }

  void carve_from(const detail::chunk* piece) noexcept {
    first_index_ = piece->first_index;
    base_ = piece->base;
    fresh_ = piece->base;
    blocks_ = piece->blocks;
    carved_ = 0;
    carved_bound_ = 0;
  }

  HEAPWISE_ALWAYS_INLINE void* carve() noexcept {
    if (carved_ == blocks_) [[unlikely]] {
      const detail::chunk* const piece = chunks_->holding_or_grow(first_index_ + blocks_);
      if (piece == nullptr) return nullptr;
      carve_from(piece);
    }
    void* const block = fresh_;
    fresh_ += stride_bytes_;
    carved_bound_ = divider_.bound_of(++carved_);
    check_.carved(block, chunks_->shape().block_size);
    return block;
  }

  detail::chunks* chunks_;
  [[no_unique_address]] Checking check_;
  detail::block_stack<typename Checking::links> free_;
  std::byte* base_ = nullptr;
  std::byte* fresh_ = nullptr;
  std::size_t first_index_ = 0;
  std::size_t carved_ = 0;
  std::uint64_t carved_bound_ = 0; ///< carved_ as a bound for the divider
  std::size_t blocks_ = 0;
  std::size_t stride_bytes_;
  detail::stride_divider divider_;
};

} // namespace heapwise::inline v0_2
