// The reading side of the shared memory: all rings, merged by stamp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "drain/calls/call_tables.hpp"
#include "drain/rings/loser_tree.hpp"
#include "drain/rings/ring_reader.hpp"
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
  /// calls a taker. Events that are younger than `horizon` stay: one with a smaller stamp may still
  /// come. If a ring is half full, only those stay that are younger than the look. Returns how many
  /// calls it has handed over.
  template <class Taker>
  std::uint64_t drain(unsigned process, call_tables& tables, std::uint64_t horizon, Taker& taker);

  /// Whether a ring had many calls left when it was drained since the last look().
  [[nodiscard]] bool has_left_much() const noexcept { return has_left_much_; }

  /// Frees the slots of threads that are gone and whose rings were read. `is_gone` is asked for a
  /// process and a thread of the kernel, which may be 0: not known.
  void reclaim(const std::function<bool(unsigned, std::int32_t)>& is_gone);

 private:
  /// What is known to be in the ring of a slot.
  struct ring_run {
    ring_reader* reader;
    thread_slot* slot;
    std::uint64_t end; ///< of its events
    std::uint64_t due; ///< publish() is due when this event was read

    /// Not after each call of threads that call by turns: the writer looks at this line.
    void publish_if_due() noexcept {
      if (reader->at() >= due) [[unlikely]]
        publish();
    }
    void publish() noexcept {
      constexpr std::uint64_t most_events = 256;
      due = reader->at() + most_events;
      if (slot->read.load(std::memory_order_relaxed) == reader->at()) return;
      slot->room.tell_read(slot->read, reader->at());
    }
  };

  [[nodiscard]] std::uint32_t slots_used() const noexcept;
  const event* ring_of(unsigned slot);
  bool find_runs(unsigned process, call_tables& tables);
  bool order_runs(std::uint64_t last_order);
  template <class Taker>
  std::uint64_t drain_up_to(std::uint64_t stamp, call_tables& tables, Taker& taker);
  template <class Taker>
  std::uint64_t drain_runs(call_tables& tables, std::uint64_t last_order, Taker& taker);
  template <class Taker>
  std::uint64_t drain_first(call_tables& tables, std::uint64_t last_order, Taker& taker);
  template <class Taker>
  std::uint64_t drain_by_turns(call_tables& tables, std::uint64_t limit, Taker& taker);

  int file_ = -1;
  shared_memory* memory_ = nullptr;
  std::vector<const event*> rings_;
  std::vector<ring_reader> readers_;
  std::vector<std::vector<unsigned>> slots_; ///< with something to read, by process
  std::vector<std::uint32_t> found_;         ///< processes that have some
  bool has_left_much_ = false;
  std::uint64_t looked_at_ = 0; ///< the stamp of the last look, before it
  std::vector<ring_run> runs_;
  std::vector<std::uint64_t> orders_; ///< of the next calls of runs_
  loser_tree tree_;                   ///< of runs_
};

/// Hands over the next call of the first ring, and those behind it up to `last_order`.
template <class Taker>
std::uint64_t rings::drain_first(call_tables& tables, std::uint64_t last_order, Taker& taker) {
  constexpr std::size_t most_calls = 256;
  ring_run& first = runs_[tree_.first()];
  ring_reader& reader = *first.reader;
  std::uint64_t taken = 0;
  do {
    taken += reader.take(taker, most_calls, first.end, last_order, tables.sites, tables.stacks);
    first.publish_if_due();
  } while (reader.has_next() && reader.next_order() <= last_order);
  tree_.replace_first(reader.next_order());
  return taken;
}

/// Hands over some calls, each of the ring that is the first one then. `limit` is of the tree.
template <class Taker>
std::uint64_t rings::drain_by_turns(call_tables& tables, std::uint64_t limit, Taker& taker) {
  constexpr std::uint64_t most_calls = 512;
  std::uint64_t taken = 0;
  for (; taken != most_calls && tree_.first_is_within(limit); ++taken) {
    ring_run& first = runs_[tree_.first()];
    ring_reader& reader = *first.reader;
    reader.take_one(taker, first.end, tables.sites, tables.stacks);
    first.publish_if_due();
    tree_.replace_first(reader.next_order());
  }
  return taken;
}

/// Hands over what the tree knows.
template <class Taker>
std::uint64_t rings::drain_runs(call_tables& tables, std::uint64_t last_order, Taker& taker) {
  // To begin a run and to end it costs about as much as this many turns.
  constexpr std::uint64_t short_run = 8;
  const std::uint64_t limit = tree_.limit_of(last_order);
  std::uint64_t taken = 0;
  while (tree_.first_is_within(limit)) {
    const std::uint64_t run =
        drain_first(tables, std::min(tree_.last_order_of_first(), last_order), taker);
    taken += run;
    if (run < short_run) taken += drain_by_turns(tables, limit, taker);
  }
  return taken;
}

template <class Taker>
std::uint64_t rings::drain_up_to(std::uint64_t stamp, call_tables& tables, Taker& taker) {
  const std::uint64_t last_order = stamp > UINT64_MAX / 2 ? UINT64_MAX : stamp * 2;
  std::uint64_t taken = 0;
  // More than once only if calls are too far from each other for one tree.
  while (order_runs(last_order)) taken += drain_runs(tables, last_order, taker);
  return taken;
}

template <class Taker>
std::uint64_t rings::drain(unsigned process, call_tables& tables, std::uint64_t horizon,
                           Taker& taker) {
  const bool is_urgent = find_runs(process, tables);
  // Rings are read one after the other, so of younger calls those of some threads may be missing.
  const std::uint64_t last = is_urgent ? std::max(horizon, looked_at_) : horizon;
  std::uint64_t taken = drain_up_to(last, tables, taker);
  // Stamps that are ahead of the clock must not stop a thread whose ring is full.
  if (is_urgent && taken == 0) taken = drain_up_to(UINT64_MAX, tables, taker);
  for (ring_run& each : runs_) {
    each.publish();
    if (each.end - each.reader->at() >= events_to_alarm) has_left_much_ = true;
  }
  return taken;
}

} // namespace heapwise::bench
