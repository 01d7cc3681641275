#include <heapwise/hybrid/refill/reserved.hpp>

#include <exception>

namespace heapwise::refill {

reserved::depot::depot(detail::hybrids::chunk_map& chunks, const hybrid_options& options) noexcept
    : target_{options.reserve_slices}, fresh_{chunks} {
  fill_all();
  if (!options.background || target_ == 0) return;
  try {
    worker_ = std::thread{[this] { work(); }};
  } catch (const std::exception&) {
    // No thread can be started. Each class still has its first reserve, and carves after that.
  }
}

reserved::depot::~depot() {
  if (!worker_.joinable()) return;
  ending_.store(true, std::memory_order_relaxed);
  wanted_.store(true, std::memory_order_release); // releases `ending_`; pairs with work()
  wanted_.notify_one();
  worker_.join();
}

void reserved::depot::work() noexcept {
  for (;;) {
    // Pairs with the releases of ~depot and of wake().
    wanted_.wait(false, std::memory_order_acquire);
    // Cleared first: a wish that comes while we carve is not lost. Acquires what that wish
    // released.
    wanted_.exchange(false, std::memory_order_acq_rel);
    if (ending_.load(std::memory_order_relaxed)) return;
    const std::scoped_lock lock{filling_};
    fill_all();
  }
}

/// Requires: `filling_`.
void reserved::depot::fill_all() noexcept {
  for (std::size_t each = 0; each < shards_.size(); ++each) {
    while (add_to_reserve(each)) {
    }
  }
}

bool reserved::depot::add_to_reserve(std::size_t class_index) noexcept {
  shard& mine = shards_[class_index];
  {
    const std::scoped_lock lock{mine.mutex};
    if (mine.ready >= target_) return false;
  }
  detail::hybrids::block_chain blocks;
  {
    const std::scoped_lock lock{carving_};
    blocks = fresh_.cut(class_index);
    if (blocks.head == nullptr) return false;
    refills_ahead_.add_one();
  }
  const std::scoped_lock lock{mine.mutex};
  if (mine.ready < target_) {
    mine.keep(blocks);
  } else {
    mine.list.prepend(blocks);
  }
  return true;
}

std::size_t reserved::depot::take_carved(std::size_t class_index, void** into,
                                         std::size_t wanted) noexcept {
  detail::hybrids::block_chain blocks;
  {
    const std::scoped_lock lock{carving_};
    blocks = fresh_.cut(class_index);
    if (blocks.head != nullptr) refills_.add_one();
  }
  const std::size_t taken = blocks.take(into, wanted);
  shard& mine = shards_[class_index];
  const std::scoped_lock lock{mine.mutex};
  mine.list.prepend(blocks);
  // Without memory for a slice: what others gave back meanwhile.
  return taken != 0 ? taken : mine.list.take(into, wanted);
}

void reserved::depot::reset(detail::hybrids::chunk_map& chunks) noexcept {
  const std::scoped_lock lock_worker{filling_};
  chunks.reset();
  fresh_.reset();
  for (shard& each : shards_) {
    const std::scoped_lock lock{each.mutex};
    each.list = {};
    each.reserve = nullptr;
    each.ready = 0;
  }
  fill_all();
}

refill_counts reserved::depot::counts() const noexcept {
  refill_counts sum{.carve_waits = carving_.waited(),
                    .refills = refills_.read(),
                    .refills_ahead = refills_ahead_.read()};
  sum.add_lock(carving_.taken());
  for (const shard& each : shards_) {
    sum.add_lock(each.mutex.taken());
    sum.list_waits += each.mutex.waited();
  }
  return sum;
}

} // namespace heapwise::refill
