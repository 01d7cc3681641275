// Refill strategy: a lock for each list, one for carving.
#pragma once

#include <array>
#include <mutex>

#include <heapwise/hybrid/detail/counted_mutex.hpp>
#include <heapwise/hybrid/refill.hpp>

namespace heapwise::refill {

/// A visit to a list takes that list's lock; a thread that finds it empty takes the one lock of the
/// chunks too, carves, and adds what it carved to the list. The report AllocatorBench measured it,
/// and found that threads do not scale with it.
struct sharded {
  static constexpr const char* name = "sharded";
  static constexpr std::size_t list_cache_blocks = 0;

  class depot {
   public:
    depot(detail::hybrids::chunk_map& chunks, const hybrid_options&) noexcept : fresh_{chunks} {}

    std::size_t take(std::size_t class_index, void** into, std::size_t wanted) noexcept {
      const std::size_t taken = take_listed(class_index, into, wanted);
      return taken != 0 ? taken : take_carved(class_index, into, wanted);
    }

    void give(std::size_t class_index, void* const* blocks, std::size_t count) noexcept {
      shard& mine = shards_[class_index];
      const std::scoped_lock lock{mine.mutex};
      for (std::size_t i = 0; i < count; ++i) mine.list.push(blocks[i]);
    }

    void reset(detail::hybrids::chunk_map& chunks) noexcept {
      chunks.reset();
      for (shard& each : shards_) each.list = {};
      fresh_.reset();
    }

    void lock() noexcept {
      carving_.lock();
      for (shard& each : shards_) each.mutex.lock();
    }
    void unlock() noexcept {
      for (shard& each : shards_) each.mutex.unlock();
      carving_.unlock();
    }

    [[nodiscard]] refill_counts counts() const noexcept {
      refill_counts sum{.carve_waits = carving_.waited(), .refills = refills_.read()};
      sum.add_lock(carving_.taken());
      for (const shard& each : shards_) {
        sum.add_lock(each.mutex.taken());
        sum.list_waits += each.mutex.waited();
      }
      return sum;
    }

   private:
    struct shard {
      detail::hybrids::counted_mutex mutex;
      detail::hybrids::block_chain list{};
    };

    std::size_t take_listed(std::size_t class_index, void** into, std::size_t wanted) noexcept {
      shard& mine = shards_[class_index];
      const std::scoped_lock lock{mine.mutex};
      return mine.list.take(into, wanted);
    }

    HEAPWISE_NOINLINE std::size_t take_carved(std::size_t class_index, void** into,
                                              std::size_t wanted) noexcept {
      const std::scoped_lock lock{carving_};
      // The thread that had the lock before may have carved for all threads that waited.
      if (const std::size_t taken = take_listed(class_index, into, wanted); taken != 0)
        return taken;
      detail::hybrids::block_chain blocks = fresh_.cut(class_index);
      if (blocks.head == nullptr) return 0;
      refills_.add_one();
      const std::size_t taken = blocks.take(into, wanted);
      shard& mine = shards_[class_index];
      const std::scoped_lock lock_list{mine.mutex};
      mine.list.prepend(blocks);
      return taken;
    }

    std::array<shard, detail::hybrids::routing::class_count> shards_{};
    detail::hybrids::counted_mutex carving_; // guards what follows; comes before a shard's
    detail::hybrids::slice_cutter fresh_;
    detail::hybrids::guarded_count refills_;
  };
};

} // namespace heapwise::refill
