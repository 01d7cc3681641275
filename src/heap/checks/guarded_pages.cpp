#include "heap/checks/guarded_pages.hpp"

#include "heap/base/invalid.hpp"
#include "heap/base/options.hpp"
#include "heap/base/random_numbers.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/upcalls.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit guarded_pages the_guards;

namespace {

/// Refills of this thread until the next sample; 0 at the start of a thread.
__thread std::uint64_t refills_left = 0;

} // namespace

void guarded_pages::start() noexcept {
  if (base_ != nullptr) return;
  length_ = (2 * slots + 1) * os::page_bytes();
  base_ = static_cast<std::byte*>(os::reserve(length_, os::page_bytes()));
}

bool guarded_pages::is_due() noexcept {
  const std::uint32_t every = the_options.guard_every;
  if (every == 0) return false;
  if (refills_left == 0) { // the first of a thread is not always a sample
    refills_left = 1 + 2 * std::uint64_t{random_below(every)};
  }
  return --refills_left == 0;
}

std::byte* guarded_pages::page_of(std::size_t slot) const noexcept {
  return base_ + (2 * slot + 1) * os::page_bytes();
}

std::size_t guarded_pages::slot_of(const void* address) const noexcept {
  const std::size_t page =
      (reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_)) /
      os::page_bytes();
  return page == 0 ? 0 : (page - 1) / 2;
}

const std::byte* guarded_pages::begin_around(const void* address) const noexcept {
  const std::size_t slot = slot_of(address);
  return page_of(slot) + os::page_bytes() - blocks_[slot].bytes;
}

void* guarded_pages::take(size_class class_index) noexcept {
  const std::uint32_t bytes = class_table[class_index].bytes;
  if (bytes > os::page_bytes()) return nullptr;
  const std::size_t slot = next_.fetch_add(1, std::memory_order_relaxed) % slots;
  guarded_block& block = blocks_[slot];
  std::uint8_t seen = block.state.load(std::memory_order_relaxed);
  // Acquire: pairs with the release in `release`, which has hidden the page before.
  if ((seen != guarded_block::never && seen != guarded_block::freed) ||
      !block.state.compare_exchange_strong(seen, guarded_block::changing,
                                           std::memory_order_acquire)) {
    return nullptr;
  }
  if (!os::reveal(page_of(slot), os::page_bytes(), block.hidden)) {
    block.state.store(seen, std::memory_order_release);
    return nullptr;
  }
  block.bytes = bytes;
  block.owner.store(nullptr, std::memory_order_relaxed); // published with the state
  block.thread = os::thread_number();
  block.allocated = os::trace_stack({base_, base_ + length_});
  block.released = {};
  // Release: pairs with the acquires of those that look at a live block. All above was written
  // before.
  block.state.store(guarded_block::live, std::memory_order_release);
  return page_of(slot) + os::page_bytes() - bytes;
}

std::size_t guarded_pages::bytes_of(const void* address) const noexcept {
  expects(holds(address), "the address is in guarded pages");
  const guarded_block& block = blocks_[slot_of(address)];
  // Acquire: pairs with the release in `take`. The length was written before.
  const bool is_live = block.state.load(std::memory_order_acquire) == guarded_block::live;
  return is_live && address == begin_around(address) ? block.bytes : 0;
}

std::optional<invalid> guarded_pages::fault_of(const void* address) const noexcept {
  expects(holds(address), "the address is in guarded pages");
  if (bytes_of(address) != 0) return {};
  const guarded_block& block = blocks_[slot_of(address)];
  // Acquire: pairs with the release in `release`, so that a report sees who freed it.
  const bool freed = block.state.load(std::memory_order_acquire) == guarded_block::freed;
  return freed ? invalid::freed_before : invalid::inside_block;
}

bool guarded_pages::release(std::byte* address) noexcept {
  if (!holds(address)) return false;
  if (const auto fault = fault_of(address)) {
    invalid_free(address, *fault);
    return true;
  }
  const std::size_t slot = slot_of(address);
  guarded_block& block = blocks_[slot];
  std::uint8_t expected = guarded_block::live;
  // Acquire: pairs with the release in `take`. Of two threads that free it, one gets the block.
  if (!block.state.compare_exchange_strong(expected, guarded_block::changing,
                                           std::memory_order_acquire)) {
    invalid_free(address, invalid::freed_before);
    return true;
  }
  block.hidden = os::hide(page_of(slot), os::page_bytes());
  block.freed_by = os::thread_number();
  block.released = os::trace_stack({base_, base_ + length_});
  // Release: pairs with the acquires above.
  block.state.store(guarded_block::freed, std::memory_order_release);
  return true;
}

void* guarded_pages::sample_for(owned_blocks& owner, size_class class_index) noexcept {
  void* const block = sample(class_index);
  // Relaxed: only this thread knows of the block.
  if (block != nullptr) blocks_[slot_of(block)].owner.store(&owner, std::memory_order_relaxed);
  return block;
}

void guarded_pages::release_all_of(const owned_blocks& owner) noexcept {
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const guarded_block& block = blocks_[slot];
    // Acquire: pairs with the release in `take`. The owner was written before.
    const bool is_live = block.state.load(std::memory_order_acquire) == guarded_block::live;
    if (is_live && block.owner.load(std::memory_order_relaxed) == &owner) {
      static_cast<void>(release(page_of(slot) + os::page_bytes() - block.bytes));
    }
  }
}

} // namespace heapwise::detail
