// A tape whose blocks are as large, and live as long, as those of a recorded program.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/memory/mapped_array.hpp"
#include "harness/random.hpp"
#include "sources/measured_mix.hpp"
#include "workload/tape.hpp"

namespace heaps {

/// Draws the index of an entry by its weight. The weights may lack a rounding error of 1.
template <class Entries, class Weight>
std::size_t drawn(const Entries& entries, double left, const Weight& weight) {
  double sum = 0;
  for (const auto& each : entries) sum += weight(each);
  left *= sum;
  for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
    if (left < weight(entries[i])) return i;
    left -= weight(entries[i]);
  }
  return entries.size() - 1;
}

/// Writes the tape: each block is freed when as many blocks were allocated after it as its drawn
/// life has. The blocks of one moment are freed in the order of their last allocation first.
class measured_writer {
 public:
  measured_writer(const measured_mix& mix, std::span<heapwise::bench::operation> memory,
                  std::uint64_t seed)
      : mix_{&mix},
        memory_{memory},
        random_{seed},
        blocks_{memory.size() / 2},
        due_{memory.size() / 2},
        free_{memory.size() / 2} {
    for (auto& each : due_) each = none;
    for (std::uint32_t slot = 0; slot < free_.size(); ++slot) {
      free_[free_.size() - 1 - slot] = slot;
    }
    slots_left_ = free_.size();
  }

  [[nodiscard]] heapwise::bench::tape write() {
    for (std::uint32_t now = 0; now < blocks_.size(); ++now) {
      allocate(now);
      release(now);
    }
    // What lives to the end is freed in the order of its allocation, oldest first.
    for (auto& each : blocks_) {
      if (each.lives) release(each);
    }
    return heapwise::bench::describe_tape(memory_);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct block {
    std::uint32_t slot;
    std::uint32_t bytes;
    std::uint32_t next_due;
    bool lives;
  };

  void allocate(std::uint32_t now) {
    const auto& row = mix_->sizes[drawn(mix_->sizes, random_.unit(),
                                        [](const auto& each) { return each.weight; })];
    const std::uint32_t slot = free_[--slots_left_];
    blocks_[now] = {slot, row.bytes, none, true};
    memory_[written_++] = heapwise::bench::operation::allocation(slot, row.bytes);
    const std::uint64_t last = std::uint64_t{now} + life(row);
    if (last >= blocks_.size()) return;
    blocks_[now].next_due = due_[static_cast<std::size_t>(last)];
    due_[static_cast<std::size_t>(last)] = now;
  }

  std::uint64_t life(const measured_size& row) {
    const std::size_t kind = drawn(row.lives, random_.unit(), [](double share) { return share; });
    if (kind == 0) return 0;
    const double longest = static_cast<double>(std::max<std::uint64_t>(mix_->allocations, 1));
    const double exponent = static_cast<double>(kind - 1) + random_.unit();
    const double lifetime = std::min(longest, std::exp2(2 * exponent));
    return static_cast<std::uint64_t>(kind + 1 == measured_lives ? longest : lifetime);
  }

  void release(std::uint32_t now) {
    for (std::uint32_t each = due_[now]; each != none; each = blocks_[each].next_due) {
      release(blocks_[each]);
    }
  }
  void release(block& one) {
    memory_[written_++] = heapwise::bench::operation::release(one.slot, one.bytes);
    free_[slots_left_++] = one.slot;
    one.lives = false;
  }

  const measured_mix* mix_;
  std::span<heapwise::bench::operation> memory_;
  heapwise::bench::random_numbers random_;
  heapwise::bench::mapped_array<block> blocks_;      ///< by the number of the allocation
  heapwise::bench::mapped_array<std::uint32_t> due_; ///< the last block that is freed after it
  heapwise::bench::mapped_array<std::uint32_t> free_;
  std::size_t slots_left_;
  std::size_t written_ = 0;
};

} // namespace heaps
