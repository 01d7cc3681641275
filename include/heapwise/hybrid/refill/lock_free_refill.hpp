// Refill strategy: no lock at a list, none to carve.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include <heapwise/detail/config.hpp>
#include <heapwise/hybrid/detail/counted_mutex.hpp>
#include <heapwise/hybrid/detail/numbered_chunks.hpp>
#include <heapwise/hybrid/refill.hpp>

namespace heapwise::refill {

/// A list is a stack whose head is one word: the index of the top block and a count of the changes,
/// which makes an old head recognisable (as in the policy lock_free). Carving is a fetch_add on a
/// chunk that all classes share. The second remedy that the report AllocatorBench names.
///
/// One thread in 63 refills needs a new chunk and takes a lock for it, as the source does anyhow.
/// At most 2^17 chunks of 1 MiB.
struct lock_free_refill {
  static constexpr const char* name = "lock_free_refill";
  static constexpr std::size_t list_cache_blocks = 0;

  class depot {
   public:
    depot(detail::hybrids::chunk_map& chunks, const hybrid_options&) noexcept
        : chunks_{&chunks}, numbered_{chunks} {}

    std::size_t take(std::size_t class_index, void** into, std::size_t wanted) noexcept {
      const std::size_t taken = pop(heads_[class_index], into, wanted);
      return taken != 0 ? taken : take_carved(class_index, into, wanted);
    }

    void give(std::size_t class_index, void* const* blocks, std::size_t count) noexcept {
      for (std::size_t i = 0; i + 1 < count; ++i) link(blocks[i], index_of(blocks[i + 1]));
      push(heads_[class_index], blocks[0], blocks[count - 1]);
    }

    void reset(detail::hybrids::chunk_map& chunks) noexcept {
      chunks.reset();
      for (head& each : heads_) each.word.store(0, std::memory_order_relaxed);
      current_.store(nullptr, std::memory_order_relaxed);
      unnumbered_ = nullptr; // as all chunks, it is handed out again
      numbered_.reset();
    }

    void lock() noexcept { growth_.lock(); }
    void unlock() noexcept { growth_.unlock(); }

    [[nodiscard]] refill_counts counts() const noexcept {
      refill_counts sum{};
      for (const head& each : heads_) {
        sum.retries += each.retries.load(std::memory_order_relaxed);
        sum.refills += each.refills.load(std::memory_order_relaxed);
      }
      sum.add_lock(growth_.taken());
      sum.carve_waits = growth_.waited();
      return sum;
    }

   private:
    struct alignas(detail::cache_line_bytes) head {
      std::atomic<std::uint64_t> word{0};
      // On a line of their own: they are written by threads that lost the race for the word.
      alignas(detail::cache_line_bytes) std::atomic<std::size_t> retries{0};
      std::atomic<std::size_t> refills{0};
    };
    static constexpr std::uint64_t index_mask = 0xFFFF'FFFFu;

    static std::uint64_t next_word(std::uint64_t seen, std::uint64_t index) noexcept {
      return ((seen >> 32) + 1) << 32 | index;
    }

    std::size_t pop(head& from, void** into, std::size_t wanted) noexcept {
      // Acquire: pairs with the release in push, so that the links are there when the index is.
      std::uint64_t seen = from.word.load(std::memory_order_acquire);
      while ((seen & index_mask) != 0) {
        std::uint64_t index = seen & index_mask;
        std::size_t taken = 0;
        while (index != 0 && taken < wanted) {
          void* const block = numbered_.address_of(index);
          if (block == nullptr) break; // a link read too late: the exchange below fails
          HEAPWISE_SCHEDULE_POINT();
          into[taken++] = block;
          index = load_link(block);
        }
        HEAPWISE_SCHEDULE_POINT();
        // All blocks below an unchanged head are as they were when it was read. Acquires the links
        // that the release of each push wrote.
        if (from.word.compare_exchange_weak(seen, next_word(seen, index & index_mask),
                                            std::memory_order_acquire, std::memory_order_acquire)) {
          return taken;
        }
        from.retries.fetch_add(1, std::memory_order_relaxed);
      }
      return 0;
    }

    void push(head& to, void* first, void* last) noexcept {
      const std::uint64_t index = index_of(first);
      std::uint64_t seen = to.word.load(std::memory_order_relaxed);
      for (;;) {
        link(last, seen & index_mask);
        HEAPWISE_SCHEDULE_POINT();
        // Release: the thread that pops the blocks sees their links, and what their last users
        // wrote.
        if (to.word.compare_exchange_weak(seen, next_word(seen, index), std::memory_order_release,
                                          std::memory_order_relaxed)) {
          return;
        }
        to.retries.fetch_add(1, std::memory_order_relaxed);
      }
    }

    HEAPWISE_NOINLINE std::size_t take_carved(std::size_t class_index, void** into,
                                              std::size_t wanted) noexcept {
      for (;;) {
        // Pairs with the release that makes a chunk the current one.
        detail::hybrids::sliced_chunk* const chunk = current_.load(std::memory_order_acquire);
        if (chunk != nullptr) {
          // Relaxed: the chunk came with `current_`; the number only has to be nobody else's.
          const std::size_t slice = chunk->carved.fetch_add(1, std::memory_order_relaxed);
          if (slice < detail::hybrids::slices_per_chunk)
            return share(*chunk, slice, class_index, into, wanted);
        }
        HEAPWISE_SCHEDULE_POINT();
        if (!next_chunk(chunk)) return pop(heads_[class_index], into, wanted);
      }
    }

    /// Carves a slice, keeps what is wanted, and gives the rest to all.
    std::size_t share(detail::hybrids::sliced_chunk& chunk, std::size_t slice,
                      std::size_t class_index, void** into, std::size_t wanted) noexcept {
      detail::hybrids::block_chain blocks = chunk.carve(slice, class_index);
      heads_[class_index].refills.fetch_add(1, std::memory_order_relaxed);
      const std::size_t taken = blocks.take(into, wanted);
      if (blocks.head == nullptr) return taken;
      for (void* block = blocks.head; block != blocks.tail;) {
        void* const next = *static_cast<void**>(block);
        link(block, index_of(next));
        block = next;
      }
      push(heads_[class_index], blocks.head, blocks.tail);
      return taken;
    }

    bool next_chunk(const detail::hybrids::sliced_chunk* full) noexcept {
      const std::scoped_lock lock{growth_};
      if (current_.load(std::memory_order_relaxed) != full) return true;
      if (unnumbered_ == nullptr) unnumbered_ = chunks_->take_sliced();
      if (unnumbered_ == nullptr || !numbered_.enter(*unnumbered_)) return false;
      detail::hybrids::sliced_chunk* const chunk = std::exchange(unnumbered_, nullptr);
      current_.store(chunk, std::memory_order_release); // pairs with the load in take_carved
      return true;
    }

    [[nodiscard]] static std::uint64_t index_of(const void* block) noexcept {
      return detail::hybrids::numbered_chunks::index_of(block);
    }
    static void link(void* block, std::uint64_t index) noexcept {
      HEAPWISE_STORE_RELAXED(static_cast<std::uint64_t*>(block), index);
    }
    /// Racy by design: another thread may have popped the block meanwhile and its user may be
    /// writing to it. The value is then garbage, but the head has changed and it is dropped. Chunks
    /// stay mapped until destruction.
    [[nodiscard]] HEAPWISE_NO_SANITIZE_THREAD static std::uint64_t load_link(
        const void* block) noexcept {
      return HEAPWISE_LOAD_RACY(static_cast<const std::uint64_t*>(block));
    }

    detail::hybrids::chunk_map* chunks_;
    detail::hybrids::numbered_chunks numbered_;
    std::array<head, detail::hybrids::routing::class_count> heads_{};
    alignas(detail::cache_line_bytes) std::atomic<detail::hybrids::sliced_chunk*> current_{nullptr};
    detail::hybrids::counted_mutex growth_; // guards what follows, and the numbers
    /// A chunk for whose number there was no memory yet.
    detail::hybrids::sliced_chunk* unnumbered_ = nullptr;
  };
};

} // namespace heapwise::refill
