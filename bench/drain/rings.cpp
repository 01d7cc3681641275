#include "drain/rings.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace heapwise::bench {

rings::rings(std::uint32_t stack_every) : readers_(most_threads) {
  file_ = memfd_create("heapwise-record", MFD_CLOEXEC);
  if (file_ < 0) return;
  const std::size_t bytes = ring_offset(most_threads);
  if (ftruncate(file_, static_cast<off_t>(bytes)) != 0) return;
  void* found = mmap(nullptr, control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (found == MAP_FAILED) return;
  memory_ = new (found) shared_memory;
  memory_->magic = shared_magic;
  memory_->stack_every = stack_every;
  memory_->drain.store(getpid(), std::memory_order_relaxed);
}

rings::~rings() {
  if (file_ >= 0) close(file_);
}

const event* rings::ring_of(unsigned slot) {
  reader& known = readers_[slot];
  if (known.ring == nullptr) {
    void* found = mmap(nullptr, ring_bytes, PROT_READ, MAP_SHARED, file_,
                       static_cast<off_t>(ring_offset(slot)));
    if (found == MAP_FAILED) return nullptr;
    known.ring = static_cast<const event*>(found);
  }
  return known.ring;
}

std::uint64_t rings::drain(std::uint64_t horizon, const take& take_event) {
  runs_.clear();
  const std::uint32_t used =
      std::min<std::uint32_t>(memory_->slots_used.load(std::memory_order_acquire), most_threads);
  for (unsigned slot = 0; slot < used; ++slot) {
    thread_slot& each = memory_->slots[slot];
    // acquire: with the writer's release, so that the events up to this number are there.
    const std::uint64_t end = each.written.load(std::memory_order_acquire);
    const std::uint64_t at = each.read.load(std::memory_order_relaxed);
    if (at == end || ring_of(slot) == nullptr) continue;
    runs_.push_back({slot, at, end});
    if (end - at >= ring_events / 2) horizon = UINT64_MAX;
    if (!readers_[slot].known) {
      readers_[slot].known = true;
      readers_[slot].thread = threads_++;
    }
  }
  const auto head = [&](const run& each) -> const event& {
    return readers_[each.slot].ring[each.at % ring_events];
  };
  // Of equal stamps the end of a block comes first: coarse clocks stamp many events alike.
  const auto later = [&](const run& one, const run& other) {
    const event& a = head(one);
    const event& b = head(other);
    return a.stamp != b.stamp ? a.stamp > b.stamp : ends_block(b.kind()) && !ends_block(a.kind());
  };
  std::ranges::make_heap(runs_, later);
  std::uint64_t taken = 0;
  while (!runs_.empty()) {
    std::ranges::pop_heap(runs_, later);
    run& first = runs_.back();
    thread_slot& slot = memory_->slots[first.slot];
    const std::uint64_t begin = first.at;
    // As long as no other ring has an earlier event, the heap is not asked.
    const event* rival = runs_.size() > 1 ? &head(runs_.front()) : nullptr;
    bool held = false;
    do {
      const event& next = head(first);
      if (next.stamp > horizon) {
        held = true;
        break;
      }
      if (rival != nullptr && first.at != begin && next.stamp >= rival->stamp) break;
      take_event(next, readers_[first.slot].thread);
      ++first.at;
    } while (first.at != first.end);
    taken += first.at - begin;
    // release: with the writer's acquire, so that it overwrites only what has been read.
    slot.read.store(first.at, std::memory_order_release);
    if (held || first.at == first.end) {
      runs_.pop_back();
    } else {
      std::ranges::push_heap(runs_, later);
    }
  }
  return taken;
}

void rings::reclaim(const std::function<bool(std::int32_t)>& is_gone) {
  const std::uint32_t used =
      std::min<std::uint32_t>(memory_->slots_used.load(std::memory_order_acquire), most_threads);
  for (unsigned number = 0; number < used; ++number) {
    thread_slot& slot = memory_->slots[number];
    const slot_state state = slot.state.load(std::memory_order_acquire);
    if (state == slot_state::free) continue;
    const std::int32_t thread = slot.kernel_id.load(std::memory_order_relaxed);
    if (state == slot_state::live && (thread == 0 || !is_gone(thread))) continue;
    if (slot.written.load(std::memory_order_acquire) != slot.read.load(std::memory_order_relaxed)) {
      continue;
    }
    slot.kernel_id.store(0, std::memory_order_relaxed);
    slot.written.store(0, std::memory_order_relaxed);
    slot.read.store(0, std::memory_order_relaxed);
    readers_[number].known = false;
    // release: with the acquire of the thread that takes the slot next.
    slot.state.store(slot_state::free, std::memory_order_release);
  }
}

} // namespace heapwise::bench
