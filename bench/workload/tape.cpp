#include "workload/tape.hpp"

#include <algorithm>
#include <utility>

#include "harness/memory/mapped_array.hpp"
#include "harness/random.hpp"

namespace heapwise::bench {
namespace {

std::uint32_t pick_size(std::span<const weighted_size> sizes, random_numbers& random) {
  double left = random.unit();
  for (const auto& each : sizes.first(sizes.size() - 1)) {
    if (left < each.weight) return each.bytes;
    left -= each.weight;
  }
  return sizes.back().bytes;
}

/// The live blocks stand before the free slots, in no order; both are one permutation of all slots.
class writer {
 public:
  writer(const size_mix& mix, std::uint64_t seed)
      : mix_{&mix}, random_{seed}, slots_{mix.most_live}, bytes_{mix.most_live} {
    for (std::uint32_t slot = 0; slot < mix.most_live; ++slot) slots_[slot] = slot;
  }

  /// `left` operations are to be written, this one included, and the last leaves nothing live.
  operation next(std::size_t left) { return allocates(left) ? allocation() : release(); }

 private:
  bool allocates(std::size_t left) {
    if (live_ == left || live_ == mix_->most_live) return false;
    return live_ == 0 || random_.unit() < mix_->allocate;
  }

  operation allocation() {
    const std::uint32_t slot = slots_[live_++];
    bytes_[slot] = pick_size(mix_->sizes, random_);
    return operation::allocation(slot, bytes_[slot]);
  }

  operation release() {
    std::uint32_t& chosen = slots_[static_cast<std::size_t>(random_.below(live_))];
    const std::uint32_t slot = chosen;
    std::swap(chosen, slots_[--live_]);
    return operation::release(slot, bytes_[slot]);
  }

  const size_mix* mix_;
  random_numbers random_;
  mapped_array<std::uint32_t>
      slots_; // not vectors: the heap under test is not used before its test
  mapped_array<std::uint32_t> bytes_;
  std::uint32_t live_ = 0;
};

} // namespace

tape make_tape(std::span<operation> memory, const size_mix& mix, std::uint64_t seed) {
  writer writes{mix, seed};
  for (std::size_t left = memory.size(); left != 0; --left) {
    memory[memory.size() - left] = writes.next(left);
  }
  return describe_tape(memory);
}

tape describe_tape(std::span<const operation> operations) noexcept {
  tape result{.operations = operations};
  std::uint64_t live_bytes = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const operation each = operations[i];
    result.slots = std::max(result.slots, each.slot() + 1);
    if (each.frees()) {
      live_bytes -= each.bytes();
      continue;
    }
    ++result.allocations;
    result.requested_bytes += each.bytes();
    live_bytes += each.bytes();
    if (live_bytes <= result.peak_live_bytes) continue;
    result.peak_live_bytes = live_bytes;
    result.peak_at = i + 1;
  }
  return result;
}

} // namespace heapwise::bench
