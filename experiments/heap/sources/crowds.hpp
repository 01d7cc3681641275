// What many threads may do with blocks, beside the mixed work of exchange.hpp. All have the same
// members: `fill` before the clock starts, `work` while it runs, `empty` after it, `clear_board`
// when all threads have ended. An operation is one malloc and one free.
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <thread>

#include "harness/escape.hpp"
#include "harness/memory/mapped_array.hpp"
#include "sources/exchange.hpp"

namespace heaps {

/// Members that most of them need. Each thread allocates blocks of one size.
template <std::uint32_t bytes, std::size_t kept>
class crowd {
 public:
  using account = exchange::account;

  explicit crowd(std::size_t threads) : threads_{threads}, own_{threads * kept} {}

  [[nodiscard]] double live_bytes() const noexcept {
    return static_cast<double>(threads_) * kept * bytes;
  }
  /// Returns: the calls of malloc that are not counted as operations, for this many operations.
  [[nodiscard]] std::size_t other_calls(std::size_t /*operations*/) const noexcept { return 0; }

  template <class Source>
  void fill(Source&, std::size_t, account&) {}
  template <class Source>
  void empty(Source&, std::size_t, account&) {}
  template <class Source>
  void clear_board(Source&, account&) {}

 protected:
  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }
  [[nodiscard]] void** own(std::size_t thread) const noexcept {
    return own_.data() + thread * kept;
  }

  template <class Source>
  static void* take(Source& source, account& keeps) {
    void* const block = block_mark::write(source.allocate(bytes), bytes);
    heapwise::bench::escape(block);
    keeps.allocated_bytes += bytes;
    return block;
  }

  template <class Source>
  static void give_back(Source& source, void* block, account& keeps) {
    keeps.freed_bytes += block_mark::read(block);
    keeps.spoiled += block_mark::read(block) == bytes ? 0 : 1;
    source.deallocate(block, bytes);
    heapwise::bench::clobber();
  }

 private:
  std::size_t threads_;
  heapwise::bench::mapped_array<void*> own_;
};

/// Allocates many blocks, then frees all of them.
class bulk_crowd : public crowd<64, 4096> {
 public:
  using crowd::crowd;

  template <class Source>
  void work(Source& source, std::size_t thread, std::size_t operations, account& keeps) {
    constexpr std::size_t burst = 512; // then the others may run
    void** const blocks = own(thread);
    for (std::size_t done = 0; done < operations;) {
      const std::size_t count = std::min<std::size_t>(4096, operations - done);
      for (std::size_t i = 0; i < count; ++i) {
        blocks[i] = take(source, keeps);
        if (i % burst == burst - 1) sched_yield();
      }
      for (std::size_t i = 0; i < count; ++i) {
        give_back(source, blocks[i], keeps);
        if (i % burst == burst - 1) sched_yield();
      }
      done += count;
    }
  }
};

/// Allocates a bag of blocks and passes it on to the next thread, which frees them.
class passing_crowd : public crowd<64, 3 * 256> {
 public:
  explicit passing_crowd(std::size_t threads) : crowd{threads}, sent_{threads} {}

  template <class Source>
  void work(Source& source, std::size_t thread, std::size_t operations, account& keeps) {
    // Bags lie in blocks of the heap, too: one for 256 operations.
    for (std::size_t done = 0; done < operations; done += in_a_bag) {
      bag* const full = static_cast<bag*>(source.allocate(sizeof(bag)));
      full->count = std::min(in_a_bag, operations - done);
      for (std::size_t i = 0; i < full->count; ++i) full->blocks[i] = take(source, keeps);
      // Release: the next thread sees the blocks. Acquire: this one sees a bag that came back.
      std::atomic<bag*>& to = sent_[(thread + 1) % threads()];
      free_bag(source, to.exchange(full, std::memory_order_acq_rel), keeps);
      sched_yield();
      free_bag(source, sent_[thread].exchange(nullptr, std::memory_order_acq_rel), keeps);
    }
  }

  template <class Source>
  void clear_board(Source& source, account& keeps) {
    for (std::atomic<bag*>& each : sent_) free_bag(source, each.exchange(nullptr), keeps);
  }

  [[nodiscard]] std::size_t other_calls(std::size_t operations) const noexcept {
    return threads() * ((operations + in_a_bag - 1) / in_a_bag);
  }

 private:
  static constexpr std::size_t in_a_bag = 256;
  struct bag {
    std::size_t count;
    std::array<void*, in_a_bag> blocks;
  };

  template <class Source>
  static void free_bag(Source& source, bag* sent, account& keeps) {
    if (sent == nullptr) return;
    for (std::size_t i = 0; i < sent->count; ++i) give_back(source, sent->blocks[i], keeps);
    source.deallocate(sent, sizeof(bag));
  }

  heapwise::bench::mapped_array<std::atomic<bag*>> sent_;
};

/// Keeps a few buffers of 64 KiB and replaces them in turn.
class buffers_crowd : public crowd<65536, 8> {
 public:
  using crowd::crowd;

  template <class Source>
  void fill(Source& source, std::size_t thread, account& keeps) {
    for (std::size_t i = 0; i < buffers; ++i) own(thread)[i] = take(source, keeps);
  }

  template <class Source>
  void work(Source& source, std::size_t thread, std::size_t operations, account& keeps) {
    constexpr std::size_t burst = 64;
    for (std::size_t i = 0; i < operations; ++i) {
      void* const newer = take(source, keeps);
      give_back(source, std::exchange(own(thread)[i % buffers], newer), keeps);
      if (i % burst == burst - 1) sched_yield();
    }
  }

  template <class Source>
  void empty(Source& source, std::size_t thread, account& keeps) {
    for (std::size_t i = 0; i < buffers; ++i) give_back(source, own(thread)[i], keeps);
  }

  [[nodiscard]] std::size_t other_calls(std::size_t /*operations*/) const noexcept {
    return threads() * buffers;
  }

 private:
  static constexpr std::size_t buffers = 8;
};

/// Starts a thread for each 200 operations, which does them and ends.
class churning_crowd : public crowd<64, 200> {
 public:
  using crowd::crowd;

  template <class Source>
  void work(Source&, std::size_t thread, std::size_t operations, account& keeps) {
    for (std::size_t done = 0; done < operations; done += in_a_life) {
      const std::size_t count = std::min(in_a_life, operations - done);
      std::thread{[&] {
        Source source;
        void** const blocks = own(thread);
        for (std::size_t i = 0; i < count; ++i) blocks[i] = take(source, keeps);
        for (std::size_t i = 0; i < count; ++i) give_back(source, blocks[i], keeps);
      }}.join();
    }
  }

  /// One for what a std::thread starts with.
  [[nodiscard]] std::size_t other_calls(std::size_t operations) const noexcept {
    return threads() * ((operations + in_a_life - 1) / in_a_life);
  }

 private:
  static constexpr std::size_t in_a_life = 200;
};

} // namespace heaps
