// Blocks on their way from one thread to another: a ring for one producer and one consumer, in
// memory of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

namespace heapwise::bench {

struct parcel {
  void* block;
  std::size_t bytes;
};

/// Parcels go in and out by whole batches, so that the ring costs little beside malloc and free.
template <std::size_t batches>
class ring_of_parcels {
 public:
  static constexpr std::size_t batch = 64;
  static constexpr std::size_t capacity = batches * batch;

  /// Waits for room, then lets `fill(parcel&)` write each of the batch.
  template <class Fill>
  void put(Fill&& fill) {
    const std::size_t at = written_.load(std::memory_order_relaxed); // this thread's own
    // acquire pairs with the release in take: the parcels there have been read.
    while (at - read_.load(std::memory_order_acquire) == capacity) std::this_thread::yield();
    for (std::size_t i = 0; i < batch; ++i) fill(parcels_[(at + i) % capacity]);
    // release pairs with the acquire in take: the parcels and what lies in their blocks.
    written_.store(at + batch, std::memory_order_release);
  }

  /// Hands each parcel of a batch to `use`; false if there is none.
  template <class Use>
  bool take(Use&& use) {
    const std::size_t at = read_.load(std::memory_order_relaxed); // this thread's own
    if (written_.load(std::memory_order_acquire) == at) return false;
    for (std::size_t i = 0; i < batch; ++i) use(parcels_[(at + i) % capacity]);
    read_.store(at + batch, std::memory_order_release);
    return true;
  }

  [[nodiscard]] std::size_t taken() const noexcept { return read_.load(std::memory_order_relaxed); }

  /// For a new repeat; no thread is at work.
  void restart() noexcept {
    written_.store(0, std::memory_order_relaxed);
    read_.store(0, std::memory_order_relaxed);
  }

 private:
  alignas(64) std::atomic<std::size_t> written_{0};
  alignas(64) std::atomic<std::size_t> read_{0};
  alignas(64) std::array<parcel, capacity> parcels_{};
};

using parcel_ring = ring_of_parcels<256>;

} // namespace heapwise::bench
