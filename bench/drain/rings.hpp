// The reading side of the shared memory: all rings, merged by stamp.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

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

  using take = std::function<void(const event&, std::uint32_t thread)>;

  /// Hands over what is in the rings, in the order of stamps. Events that are younger than
  /// `horizon` stay, unless a ring is half full: one with a smaller stamp may still come. Returns
  /// how many.
  std::uint64_t drain(std::uint64_t horizon, const take& take_event);

  /// Frees the slots of threads that are gone. `is_gone` is asked for a thread of the kernel.
  void reclaim(const std::function<bool(std::int32_t)>& is_gone);

  [[nodiscard]] std::uint32_t threads_seen() const noexcept { return threads_; }

 private:
  struct reader {
    const event* ring = nullptr;
    std::uint32_t thread = 0;
    bool known = false; ///< the thread has its number
  };
  struct run {
    unsigned slot;
    std::uint64_t at;
    std::uint64_t end;
  };

  const event* ring_of(unsigned slot);

  int file_ = -1;
  shared_memory* memory_ = nullptr;
  std::vector<reader> readers_;
  std::vector<run> runs_;
  std::uint32_t threads_ = 0;
};

} // namespace heapwise::bench
