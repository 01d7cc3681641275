// The reading side of the shared memory: all rings, merged by stamp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
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

  using take = std::function<void(std::span<const call>)>;

  /// What a process says of itself. Null if it cannot be mapped.
  [[nodiscard]] const process_texts* map_texts(unsigned process) const noexcept;
  static void unmap_texts(const process_texts* texts) noexcept;

  /// Looks at all slots, before drain() is called for each process that has something.
  void look();
  [[nodiscard]] bool has_slots(unsigned process) const noexcept { return !slots_[process].empty(); }

  /// Hands over what the process has in its rings, in the order of stamps, some calls of one thread
  /// at a time. Events that are younger than `horizon` stay, unless a ring is half full: one with a
  /// smaller stamp may still come. Returns how many calls it has handed over.
  std::uint64_t drain(unsigned process, call_tables& tables, std::uint64_t horizon,
                      const take& take_calls);

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
  std::uint64_t drain_first(run& first, call_tables& tables, std::uint64_t last_order,
                            const take& take_calls);

  int file_ = -1;
  shared_memory* memory_ = nullptr;
  std::vector<const event*> rings_;
  std::vector<ring_reader> readers_;
  std::vector<std::vector<unsigned>> slots_; ///< with something to read, by process
  std::vector<run> runs_;
};

} // namespace heapwise::bench
