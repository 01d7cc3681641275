// The reading side of the shared memory: all rings, merged by stamp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

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

  /// Hands over what is in the rings, in the order of stamps, some calls of one thread at a time.
  /// Events that are younger than `horizon` stay, unless a ring is half full: one with a smaller
  /// stamp may still come. Returns how many calls it has handed over.
  std::uint64_t drain(std::uint64_t horizon, const take& take_calls);

  /// Frees the slots of threads that are gone. `is_gone` is asked for a thread of the kernel.
  void reclaim(const std::function<bool(std::int32_t)>& is_gone);

  [[nodiscard]] std::uint32_t threads_seen() const noexcept { return threads_; }
  [[nodiscard]] const call_sites& sites() const noexcept { return sites_; }
  [[nodiscard]] call_stacks& stacks() noexcept { return stacks_; }

 private:
  struct run {
    unsigned slot;
    std::uint64_t end; ///< of what is in its ring now
    std::uint64_t order;
  };

  [[nodiscard]] std::uint32_t slots_used() const noexcept;
  const event* ring_of(unsigned slot);
  bool find_runs();
  std::uint64_t drain_first(run& first, std::uint64_t last_order, const take& take_calls);

  int file_ = -1;
  shared_memory* memory_ = nullptr;
  std::vector<const event*> rings_;
  std::vector<ring_reader> readers_;
  std::vector<run> runs_;
  std::uint32_t threads_ = 0;
  call_sites sites_;
  call_stacks stacks_;
};

} // namespace heapwise::bench
