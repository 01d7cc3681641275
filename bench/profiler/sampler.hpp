// Which allocations of a thread are samples, and what is written down about them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profiler/sampled_blocks.hpp"
#include "trace/event.hpp"

namespace heapwise::bench {

extern constinit sampled_blocks sampled;

class thread_sampler {
 public:
  /// Counts the bytes of an allocation. Returns true if a sample may be among them.
  [[nodiscard]] bool is_due(std::size_t size) noexcept {
    until_ -= size;
    return static_cast<std::int64_t>(until_) < 0;
  }

  /// The allocation for which is_due() was asked is none of the program's.
  void take_back(std::size_t size) noexcept { until_ += size; }

  /// Whether the allocation for which is_due() returned true is to be written down.
  [[nodiscard]] bool take() noexcept;

  /// Gives a forked child its own place in the recording, if children are followed. Does nothing in
  /// any other process.
  void begin_in_child() noexcept;

 private:
  std::uint64_t until_ = 0; ///< how many bytes may pass; taken as a signed number
  std::uint64_t random_ = 0;
};

// initial-exec: any other model may call malloc for the thread's block, and we are malloc.
__attribute__((tls_model("initial-exec"))) extern thread_local constinit thread_sampler sampler;

/// Writes down a block that was made just now.
void write_sample(event_kind kind, const void* block, std::size_t size, const void* site,
                  unsigned alignment_log) noexcept;

/// The end of a block that may be a sample, in two steps: the call that ends it stands between.
class sample_end {
 public:
  /// Takes the block out: as soon as it has ended, another thread may get its address.
  explicit sample_end(void* block) noexcept;

  /// The block has ended. Writes it down if it was a sample.
  void write(event_kind kind, const void* site) const noexcept;

  /// The block has not ended.
  void take_back() const noexcept;

 private:
  void* block_;
  bool was_sampled_ = false;
  std::uint64_t pages_ = 0;
  std::uint64_t stamp_ = 0;
};

} // namespace heapwise::bench
