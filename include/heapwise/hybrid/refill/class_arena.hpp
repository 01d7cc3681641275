// Refill strategy: each class has chunks of its own.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

#include <heapwise/hybrid/detail/counted_mutex.hpp>
#include <heapwise/hybrid/refill.hpp>

namespace heapwise::refill {

/// A class's list, its chunks and its lock are its own; classes meet only once for each chunk, at
/// the source. The first remedy that the report AllocatorBench names.
struct class_arena {
  static constexpr const char* name = "class_arena";
  static constexpr std::size_t list_cache_blocks = 0;

  class depot {
   public:
    depot(detail::hybrids::chunk_map& chunks, const hybrid_options&) noexcept
        : depot{chunks, std::make_index_sequence<detail::hybrids::routing::class_count>{}} {}

    std::size_t take(std::size_t class_index, void** into, std::size_t wanted) noexcept {
      arena& mine = arenas_[class_index];
      const std::scoped_lock lock{mine.mutex};
      if (mine.list.head == nullptr) {
        mine.list = mine.fresh.cut(mine.class_index);
        if (mine.list.head != nullptr) mine.refills.add_one();
      }
      return mine.list.take(into, wanted);
    }

    void give(std::size_t class_index, void* const* blocks, std::size_t count) noexcept {
      arena& mine = arenas_[class_index];
      const std::scoped_lock lock{mine.mutex};
      for (std::size_t i = 0; i < count; ++i) mine.list.push(blocks[i]);
    }

    void reset(detail::hybrids::chunk_map& chunks) noexcept {
      chunks.reset();
      for (arena& each : arenas_) {
        each.list = {};
        each.fresh.reset();
      }
    }

    void lock() noexcept {
      for (arena& each : arenas_) each.mutex.lock();
    }
    void unlock() noexcept {
      for (arena& each : arenas_) each.mutex.unlock();
    }

    [[nodiscard]] refill_counts counts() const noexcept {
      refill_counts sum{};
      for (const arena& each : arenas_) {
        sum.add_lock(each.mutex.taken());
        sum.list_waits += each.mutex.waited();
        sum.refills += each.refills.read();
      }
      return sum;
    }

   private:
    struct arena {
      arena(detail::hybrids::chunk_map& chunks, std::size_t index) noexcept
          : class_index{index}, fresh{chunks} {}

      std::size_t class_index;
      detail::hybrids::counted_mutex mutex{}; // guards what follows
      detail::hybrids::block_chain list{};
      detail::hybrids::slice_cutter fresh;
      detail::hybrids::guarded_count refills{};
    };

    template <std::size_t... Index>
    depot(detail::hybrids::chunk_map& chunks, std::index_sequence<Index...>) noexcept
        : arenas_{{arena{chunks, Index}...}} {}

    std::array<arena, detail::hybrids::routing::class_count> arenas_;
  };
};

/// class_arena with a cache in each thread for the lists too, as there is for the slabs: not a way
/// to refill, but a way not to meet. The counter-check of the other strategies.
struct cached_lists : class_arena {
  static constexpr const char* name = "cached_lists";
  static constexpr std::size_t list_cache_blocks = 32;
};

} // namespace heapwise::refill
