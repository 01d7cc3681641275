// Refill strategy: what will be needed is carved before it is.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <thread>

#include <heapwise/hybrid/detail/counted_mutex.hpp>
#include <heapwise/hybrid/refill.hpp>

namespace heapwise::refill {

/// A class has a list, a lock and some slices in reserve that are carved already. A thread that
/// finds the list empty adds one of them to it, in constant time. Reserves are filled at
/// construction, and by a thread that carves while no other thread waits for it. An allocation
/// carves only if the reserves are empty. The third remedy that the report AllocatorBench names.
///
/// The thread does not survive fork: a child carves for itself.
struct reserved {
  static constexpr const char* name = "reserved";
  static constexpr std::size_t list_cache_blocks = 0;

  class depot {
   public:
    depot(detail::hybrids::chunk_map& chunks, const hybrid_options& options) noexcept;
    depot(const depot&) = delete;
    depot& operator=(const depot&) = delete;
    ~depot();

    std::size_t take(std::size_t class_index, void** into, std::size_t wanted) noexcept {
      shard& mine = shards_[class_index];
      {
        const std::scoped_lock lock{mine.mutex};
        if (mine.list.head == nullptr) hang_in(mine);
        if (const std::size_t taken = mine.list.take(into, wanted); taken != 0) return taken;
      }
      return take_carved(class_index, into, wanted);
    }

    void give(std::size_t class_index, void* const* blocks, std::size_t count) noexcept {
      shard& mine = shards_[class_index];
      const std::scoped_lock lock{mine.mutex};
      for (std::size_t i = 0; i < count; ++i) mine.list.push(blocks[i]);
    }

    /// The reserves too are filled again.
    void reset(detail::hybrids::chunk_map& chunks) noexcept;
    void lock() noexcept {
      filling_.lock();
      for (shard& each : shards_) each.mutex.lock();
      carving_.lock();
    }
    void unlock() noexcept {
      carving_.unlock();
      for (shard& each : shards_) each.mutex.unlock();
      filling_.unlock();
    }
    /// The worker is a thread of the parent: it can be neither joined nor detached here.
    void enter_child() noexcept { ::new (&worker_) std::thread{}; }

    [[nodiscard]] refill_counts counts() const noexcept;

   private:
    /// A slice in reserve, written into its first block; the first word is the chain's as ever.
    struct slice {
      void* second;
      void* tail;
      std::size_t count;
      slice* next;
    };
    static_assert(sizeof(slice) <= detail::hybrids::routing::smallest_list_bytes);

    struct shard {
      detail::hybrids::counted_mutex mutex; // guards all
      detail::hybrids::block_chain list{};
      slice* reserve = nullptr;
      std::size_t ready = 0; ///< slices in reserve

      void keep(const detail::hybrids::block_chain& blocks) noexcept {
        reserve = ::new (blocks.head)
            slice{*static_cast<void**>(blocks.head), blocks.tail, blocks.count, reserve};
        ++ready;
      }
      /// Requires: ready != 0.
      [[nodiscard]] detail::hybrids::block_chain take_kept() noexcept {
        const slice* const taken = reserve;
        reserve = taken->next;
        --ready;
        return {const_cast<slice*>(taken), taken->tail, taken->count};
      }
    };

    /// Requires: the shard's lock.
    void hang_in(shard& mine) noexcept {
      if (mine.ready == 0) return;
      mine.list = mine.take_kept();
      // Half is left: time to carve, before the rest is gone.
      if (mine.ready * 2 <= target_) wake();
    }
    void wake() noexcept {
      if (wanted_.load(std::memory_order_relaxed)) return;
      // Release: the worker acquires the wish in depot::work.
      wanted_.store(true, std::memory_order_release);
      wanted_.notify_one();
    }

    std::size_t take_carved(std::size_t class_index, void** into, std::size_t wanted) noexcept;
    void work() noexcept;
    void fill_all() noexcept;
    bool add_to_reserve(std::size_t class_index) noexcept;

    std::size_t target_;
    std::mutex filling_; // held by the thread that fills reserves; comes before all others
    std::array<shard, detail::hybrids::routing::class_count> shards_{};
    // No thread takes this lock while it holds a shard's, except around a fork.
    detail::hybrids::counted_mutex carving_; // guards what follows
    detail::hybrids::slice_cutter fresh_;
    detail::hybrids::guarded_count refills_;
    detail::hybrids::guarded_count refills_ahead_;
    alignas(detail::cache_line_bytes) std::atomic<bool> wanted_{false};
    std::atomic<bool> ending_{false};
    std::thread worker_;
  };
};

} // namespace heapwise::refill
