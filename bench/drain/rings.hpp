// The reading side of the shared memory: all rings, merged by stamp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "drain/call_tables.hpp"
#include "drain/ring_reader.hpp"
#include "drain/run_heap.hpp"
#include "trace/shared.hpp"

namespace heapwise::bench {

class rings {
 public:
  /// Makes the memory file. Check ok() after it.
  explicit rings(std::uint32_t stack_every);
  ~rings();
  rings(const rings&) = delete;
  rings& operator=(const rings&) = delete;

  [[nodiscard]] bool ok() const noexcept { return memory_ != nullptr; }
  [[nodiscard]] int file() const noexcept { return file_; }
  [[nodiscard]] shared_memory& memory() noexcept { return *memory_; }
  [[nodiscard]] const shared_memory& memory() const noexcept { return *memory_; }

  /// What a process says of itself. Null if it cannot be mapped.
  [[nodiscard]] const process_texts* map_texts(unsigned process) const noexcept;
  static void unmap_texts(const process_texts* texts) noexcept;

  /// Looks at all slots, before drain() is called for each process that has something.
  void look();
  [[nodiscard]] bool has_slots(unsigned process) const noexcept { return !slots_[process].empty(); }

  /// Hands over what the process has in its rings, in the order of stamps, to what ring_reader
  /// calls a taker. Events that are younger than `horizon` stay, unless a ring is half full: one
  /// with a smaller stamp may still come. Returns how many calls it has handed over.
  template <class Taker>
  std::uint64_t drain(unsigned process, call_tables& tables, std::uint64_t horizon, Taker& taker);

  /// Frees the slots of threads that are gone and whose rings were read. `is_gone` is asked for a
  /// process and a thread of the kernel, which may be 0: not known.
  void reclaim(const std::function<bool(unsigned, std::int32_t)>& is_gone);

 private:
  [[nodiscard]] std::uint32_t slots_used() const noexcept;
  const event* ring_of(unsigned slot);
  bool find_runs(unsigned process, call_tables& tables);
  template <class Taker>
  std::uint64_t drain_first(ring_run& first, call_tables& tables, std::uint64_t last_order,
                            Taker& taker);

  int file_ = -1;
  shared_memory* memory_ = nullptr;
  std::vector<const event*> rings_;
  std::vector<ring_reader> readers_;
  std::vector<std::vector<unsigned>> slots_; ///< with something to read, by process
  run_heap runs_;
};

/// Hands over the next call of `first`, and those behind it up to `last_order`.
template <class Taker>
std::uint64_t rings::drain_first(ring_run& first, call_tables& tables, std::uint64_t last_order,
                                 Taker& taker) {
  constexpr std::size_t most_calls = 256;
  ring_reader& reader = readers_[first.slot];
  std::uint64_t taken = 0;
  std::atomic<std::uint64_t>& read = memory_->slots[first.slot].read;
  do {
    taken += reader.take(taker, most_calls, first.end, last_order, tables.sites, tables.stacks);
    // Not after each call of threads that call by turns: the writer looks at this line.
    if (!reader.has_next() || reader.at() - read.load(std::memory_order_relaxed) >= most_calls) {
      // release: with the writer's acquire, so that it overwrites only what has been read.
      read.store(reader.at(), std::memory_order_release);
    }
  } while (reader.has_next() && reader.next_order() <= last_order);
  first.order = reader.next_order();
  return taken;
}

template <class Taker>
std::uint64_t rings::drain(unsigned process, call_tables& tables, std::uint64_t horizon,
                           Taker& taker) {
  const bool is_urgent = find_runs(process, tables);
  const std::uint64_t last_order = is_urgent || horizon > UINT64_MAX / 2 ? UINT64_MAX : horizon * 2;
  std::uint64_t taken = 0;
  while (!runs_.empty() && runs_.first().order <= last_order) {
    ring_run& first = runs_.first();
    // As long as no other ring has an earlier call, the heap is not asked.
    taken += drain_first(first, tables, std::min(runs_.next_order(), last_order), taker);
    if (readers_[first.slot].has_next()) {
      runs_.sink_first();
    } else {
      runs_.remove_first();
    }
  }
  return taken;
}

} // namespace heapwise::bench
