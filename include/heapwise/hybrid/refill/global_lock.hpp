// Refill strategy: one lock for all lists, and for carving.
#pragma once

#include <array>
#include <mutex>

#include <heapwise/hybrid/detail/counted_mutex.hpp>
#include <heapwise/hybrid/refill.hpp>

namespace heapwise::refill {

/// Every visit to a list takes the same lock. The baseline of the report AllocatorBench.
struct global_lock {
  static constexpr const char* name = "global_lock";
  static constexpr std::size_t list_cache_blocks = 0;

  class depot {
   public:
    depot(detail::hybrids::chunk_map& chunks, const hybrid_options&) noexcept : fresh_{chunks} {}

    std::size_t take(std::size_t class_index, void** into, std::size_t wanted) noexcept {
      const std::scoped_lock lock{mutex_};
      detail::hybrids::block_chain& list = lists_[class_index];
      if (list.head == nullptr) {
        list = fresh_.cut(class_index);
        if (list.head != nullptr) refills_.add_one();
      }
      return list.take(into, wanted);
    }

    void give(std::size_t class_index, void* const* blocks, std::size_t count) noexcept {
      const std::scoped_lock lock{mutex_};
      for (std::size_t i = 0; i < count; ++i) lists_[class_index].push(blocks[i]);
    }

    void reset(detail::hybrids::chunk_map& chunks) noexcept {
      chunks.reset();
      lists_ = {};
      fresh_.reset();
    }

    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

    [[nodiscard]] refill_counts counts() const noexcept {
      return {.locks_taken = mutex_.taken(),
              .busiest_lock = mutex_.taken(),
              .list_waits = mutex_.waited(),
              .refills = refills_.read()};
    }

   private:
    detail::hybrids::counted_mutex mutex_; // guards all
    std::array<detail::hybrids::block_chain, detail::hybrids::routing::class_count> lists_{};
    detail::hybrids::slice_cutter fresh_;
    detail::hybrids::guarded_count refills_;
  };
};

} // namespace heapwise::refill
