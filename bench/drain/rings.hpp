// The reading side of the shared memory: all rings, merged by stamp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "drain/call_tables.hpp"
#include "drain/ring_reader.hpp"
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
  struct run {
    unsigned slot;
    std::uint64_t end; ///< of what is in its ring now
    std::uint64_t order;
  };

  [[nodiscard]] std::uint32_t slots_used() const noexcept;
  const event* ring_of(unsigned slot);
  bool find_runs(unsigned process, call_tables& tables);
  template <class Taker>
  std::uint64_t drain_first(run& first, call_tables& tables, std::uint64_t last_order,
                            Taker& taker);

  int file_ = -1;
  shared_memory* memory_ = nullptr;
  std::vector<const event*> rings_;
  std::vector<ring_reader> readers_;
  std::vector<std::vector<unsigned>> slots_; ///< with something to read, by process
  std::vector<run> runs_;
};

/// Hands over the next call of `first`, and those behind it up to `last_order`.
template <class Taker>
std::uint64_t rings::drain_first(run& first, call_tables& tables, std::uint64_t last_order,
                                 Taker& taker) {
  constexpr std::size_t most_calls = 256;
  ring_reader& reader = readers_[first.slot];
  std::uint64_t taken = 0;
  do {
    taken += reader.take(taker, most_calls, first.end, last_order, tables.sites, tables.stacks);
    // release: with the writer's acquire, so that it overwrites only what has been read.
    memory_->slots[first.slot].read.store(reader.at(), std::memory_order_release);
  } while (reader.has_next() && reader.next_order() <= last_order);
  first.order = reader.next_order();
  return taken;
}

template <class Taker>
std::uint64_t rings::drain(unsigned process, call_tables& tables, std::uint64_t horizon,
                           Taker& taker) {
  const bool is_urgent = find_runs(process, tables);
  const std::uint64_t last_order = is_urgent || horizon > UINT64_MAX / 2 ? UINT64_MAX : horizon * 2;
  const auto later = [](const run& one, const run& other) { return one.order > other.order; };
  std::ranges::make_heap(runs_, later);
  std::uint64_t taken = 0;
  while (!runs_.empty() && runs_.front().order <= last_order) {
    std::ranges::pop_heap(runs_, later);
    run& first = runs_.back();
    // As long as no other ring has an earlier call, the heap is not asked.
    const std::uint64_t rival = runs_.size() > 1 ? runs_.front().order : UINT64_MAX;
    taken += drain_first(first, tables, std::min(rival, last_order), taker);
    if (readers_[first.slot].has_next()) {
      std::ranges::push_heap(runs_, later);
    } else {
      runs_.pop_back();
    }
  }
  return taken;
}

} // namespace heapwise::bench
