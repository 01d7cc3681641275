// A marker at work, and the work that markers share.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "gc/base/page_list.hpp"
#include "gc/base/root.hpp"
#include "gc/mark/marker.hpp"
#include "os/expects.hpp"
#include "os/mutex.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

inline constexpr std::size_t piece_bytes = std::size_t{32}
                                           << 10; // of roots and long blocks, at once
inline constexpr std::size_t most_shared = 256;   // blocks given away and not yet taken

/// Data that markers share. The lock protects all of it except for the atomic members.
struct shared_work {
  os::mutex lock;
  page_list<root>* ranges = nullptr;
  std::array<grey, most_shared> blocks;
  std::size_t block_count = 0;
  std::size_t active = 0; // markers in this round
  bool over = true;       // late markers stay out
  map where;
  std::atomic<std::size_t> hungry{0};    // those of them that have nothing to do
  std::atomic<bool> given{false};        // there are blocks: a hint, exact under the lock
  std::atomic<std::uint32_t> version{0}; // changes when there may be something to do
  std::atomic<std::uint32_t> round{0};
  std::atomic<std::uint32_t> left{0}; // changes when a marker leaves the round
};

inline constinit shared_work work;

inline void announce_work() noexcept {
  // Release: a marker that acquires the version finds the work that was added before.
  work.version.fetch_add(1, std::memory_order_release);
  if (work.hungry.load(std::memory_order_relaxed) > 0) os::wake_all(work.version);
}

/// Effects: gives half of what is on the stack to those who have nothing.
HEAPWISE_COLD inline void share(mark_stack& stack) noexcept {
  {
    const std::lock_guard hold{work.lock};
    const std::size_t wanted = std::min(stack.size() / 2, most_shared - work.block_count);
    work.block_count += stack.take_oldest(work.blocks.data() + work.block_count, wanted);
    work.given.store(work.block_count > 0, std::memory_order_relaxed);
  }
  announce_work();
}

template <bool Shared, bool Interior>
class worker {
 public:
  explicit worker(marker& self) noexcept : self_{self} {}

  void run() noexcept {
    do {
      drain();
    } while (get_more());
  }

  void drain() noexcept {
    self_.template drain<Shared, Interior>(
        [] {
          return work.hungry.load(std::memory_order_relaxed) > 0 &&
                 !work.given.load(std::memory_order_relaxed);
        },
        [](mark_stack& stack) { share(stack); }, [this](const void* block) { scan_long(block); });
  }

 private:
  /// A large block becomes a range like those of the roots: everybody takes pieces of it.
  HEAPWISE_NOINLINE HEAPWISE_READS_ANYTHING void scan_long(const void* block) noexcept {
    const auto* const begin = static_cast<const std::byte*>(block);
    const slice_record& record =
        work.where
            .records[(reinterpret_cast<std::uintptr_t>(block) - work.where.base) / slice_bytes];
    bool kept = false;
    if (record.bytes > piece_bytes * 2) {
      const std::lock_guard hold{work.lock};
      kept = work.ranges->add({{begin, begin + record.bytes}, false});
    }
    if (!kept) self_.template scan<Interior>(begin, begin + record.bytes);
    if (kept && Shared) announce_work();
  }

  /// Effects: takes blocks, or a piece of a range. Returns: false when there is nothing left at
  /// all.
  [[nodiscard]] bool get_more() noexcept {
    std::unique_lock hold{work.lock};
    for (;;) {
      if (work.block_count > 0) {
        take_blocks();
        return true;
      }
      if (work.ranges->size() > 0) {
        const root piece = take_piece();
        hold.unlock();
        scan(piece);
        return true;
      }
      if (!Shared || !wait_for_more(hold)) return false;
    }
  }

  /// Requires: the lock.
  void take_blocks() noexcept {
    expects_held(work.lock);
    std::size_t count = (work.block_count + 1) / 2;
    for (; count > 0; --count) {
      if (!self_.stack().push(work.blocks[work.block_count - 1])) break;
      --work.block_count;
    }
    work.given.store(work.block_count > 0, std::memory_order_relaxed);
  }

  /// Requires: the lock.
  [[nodiscard]] static root take_piece() noexcept {
    expects_held(work.lock);
    root& from = work.ranges->last();
    root piece = from;
    const auto* const begin = static_cast<const std::byte*>(from.range.begin);
    const auto* const end = static_cast<const std::byte*>(from.range.end);
    if (static_cast<std::size_t>(end - begin) > piece_bytes) {
      piece.range.end = from.range.begin = begin + piece_bytes;
    } else {
      work.ranges->remove_last();
    }
    return piece;
  }

  HEAPWISE_READS_ANYTHING void scan(const root& piece) noexcept {
    if (piece.on_stack) {
      self_.scan_stack(piece.range.begin, piece.range.end);
    } else {
      self_.template scan<Interior>(piece.range.begin, piece.range.end);
    }
  }

  /// Returns: whether it makes sense to look again. Requires: the lock, which it lets go meanwhile.
  [[nodiscard]] static bool wait_for_more(std::unique_lock<os::mutex>& hold) noexcept {
    expects(hold.owns_lock(), "the lock of the work is held");
    const std::size_t hungry = work.hungry.load(std::memory_order_relaxed) + 1;
    work.hungry.store(hungry, std::memory_order_relaxed);
    if (hungry == work.active) {
      work.over = true;
      announce_work();
      return false;
    }
    const auto nothing = [] {
      return !work.over && work.block_count == 0 && work.ranges->size() == 0;
    };
    while (nothing()) {
      // Pairs with the release in announce_work.
      const std::uint32_t version = work.version.load(std::memory_order_acquire);
      hold.unlock();
      constexpr int most_looks = 1000; // some microseconds: sleeping and waking takes longer
      for (int look = 0; look < most_looks; ++look) {
        if (work.version.load(std::memory_order_relaxed) != version) break;
        os::pause();
      }
      os::wait(work.version, version, 1);
      hold.lock();
    }
    if (work.over) return false;
    work.hungry.store(work.hungry.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return true;
  }

  marker& self_;
};

} // namespace heapwise::gc
