#include "heap/front/owned.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>

#include "heap/base/invalid.hpp"
#include "heap/base/linked.hpp"
#include "heap/base/no_memory.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/quarantine.hpp"
#include "heap/checks/block_states.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/checks/span_guard.hpp"
#include "heap/front/exported.hpp"
#include "heap/front/general.hpp"
#include "heap/front/owned_links.hpp"
#include "heap/front/start.hpp"
#include "heap/large/large_blocks.hpp"
#include "heap/large/large_quarantine.hpp"
#include "heap/space/huge_pages.hpp"
#include "heap/space/space.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

// A heap's record is a block of the heap of all threads.
struct heapwise_heap {
  heapwise::detail::owned_blocks blocks;
  heapwise_heap* next = nullptr; // of all that exist
  heapwise_heap* previous = nullptr;
};

namespace heapwise::detail {

namespace {
struct all_heaps {
  os::mutex lock;
  linked_list<heapwise_heap> list;
  std::size_t count = 0;
};
constinit all_heaps live_heaps;

void enlist(heapwise_heap& new_heap) noexcept {
  const std::lock_guard hold{live_heaps.lock};
  live_heaps.list.push(new_heap);
  ++live_heaps.count;
}

void strike_off(heapwise_heap& old_heap) noexcept {
  const std::lock_guard hold{live_heaps.lock};
  live_heaps.list.remove(old_heap);
  --live_heaps.count;
}

/// Returns: a span for one block, whose length in bytes it has; nullptr without memory. Where large
/// blocks have a quarantine it is one of them: what waits there serves this heap too.
span* take_alone(std::size_t size_bytes, std::size_t alignment) noexcept {
  if constexpr (chosen_profile.quarantines) {
    span* const large = make_large(size_bytes, alignment, 0, false);
    if (large != nullptr) hand_over(*large);
    return large;
  }
  const std::size_t slices = std::max(slices_of(size_bytes), std::size_t{1});
  if (slices > the_space.reserved_bytes() / slice_bytes) return nullptr;
  bool is_clean = false;
  span* const new_span =
      the_space.take(slices, std::max(alignment / slice_bytes, std::size_t{1}), is_clean);
  if (new_span != nullptr) new_span->large.usable_bytes = slices * slice_bytes;
  return new_span;
}

/// Effects: what the blocks of a span held is gone.
[[maybe_unused]] void discard(span& empty) noexcept {
  std::byte* const begin = the_space.begin_of(empty);
  const std::size_t bytes = empty.slices * slice_bytes;
  if (!purge_slices(begin, bytes)) std::memset(begin, 0, bytes - span_guard_bytes);
}

/// Effects: a span that is in no list any more goes back to the space; one block alone waits in the
/// quarantine, if the profile has one. Requires: no lock is held.
void give(span& empty) noexcept {
  if (empty.class_index == no_class) {
    if constexpr (chosen_profile.quarantines) return hold_back_large(empty);
    return the_space.give(empty);
  }
  if constexpr (chosen_profile.clears) discard(empty);
  give_small_span(empty);
}
} // namespace

/// Effects: the span is one of this heap. Requires: the lock; nobody else knows of the span.
void owned_blocks::adopt(span& new_span) noexcept {
  expects_held(lock_);
  for (std::uint32_t each = 1; each < new_span.slices; ++each) {
    (&new_span)[each].slices = each;
    (&new_span)[each].use.store(slice_use::inside, std::memory_order_relaxed);
  }
  new_span.owner = this;
  spans_.push(new_span);
}

void* owned_blocks::allocate(std::size_t size_bytes, std::size_t alignment) noexcept {
  if (!start_heap() || size_bytes > PTRDIFF_MAX - slice_bytes) return nullptr;
  if (size_bytes > max_small_bytes - canary_bytes || alignment > max_small_bytes) {
    return allocate_alone(size_bytes, alignment);
  }
  return allocate_of_class(
      static_cast<size_class>(aligned_class_of(size_bytes + canary_bytes, alignment)));
}

void* owned_blocks::allocate_alone(std::size_t size_bytes, std::size_t alignment) noexcept {
  span* const new_span = take_alone(size_bytes, alignment);
  if (new_span == nullptr) return nullptr;
  const std::lock_guard hold{lock_};
  adopt(*new_span);
  new_span->class_index = no_class;
  owned_links::use_alone(the_space.begin_of(*new_span));
  // Release: pairs with the acquire in look_up. The owner and the length were written before.
  new_span->use.store(slice_use::owned, std::memory_order_release);
  return the_space.begin_of(*new_span);
}

void* owned_blocks::allocate_of_class(size_class class_index) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    if (void* const sampled = sample(class_index)) return sampled;
  }
  std::unique_lock hold{lock_};
  std::byte* block = nullptr;
  bool is_sound = pop(class_index, block);
  if (is_sound && block == nullptr) {
    block = cut(class_index);
    if (block == nullptr && end_quarantine(class_index)) is_sound = pop(class_index, block);
  }
  hold.unlock(); // as in release
  if (!is_sound) end_by_fault(block, invalid::written_when_free);
  if (block != nullptr) owned_links::use(block, class_index);
  return block;
}

/// Effects: a block that was freed is not free any more. `block`: that one; nullptr if there is
/// none. Returns: false if the program has overwritten its link.
bool owned_blocks::pop(size_class class_index, std::byte*& block) noexcept {
  block = free_[class_index];
  if (block == nullptr) return true;
  std::byte* const next = owned_links::read(block);
  if (!owned_links::leads_to_free(next)) return false;
  free_[class_index] = next;
  owned_links::erase(block);
  return true;
}

void owned_blocks::push(std::byte* block, size_class class_index) noexcept {
  owned_links::write(block, free_[class_index]);
  free_[class_index] = block;
}

bool owned_blocks::start_run(size_class class_index) noexcept {
  const class_facts& facts = class_table[class_index];
  bool is_clean = false;
  span* const new_span = the_space.take(facts.slices, 1, is_clean);
  if (new_span == nullptr) return false;
  adopt(*new_span);
  new_span->class_index = static_cast<std::uint8_t>(class_index);
  new_span->owned.block_bytes = facts.bytes;
  block_states::forget(*new_span);
  guard_end(*new_span);
  // Release: as above.
  new_span->use.store(slice_use::owned, std::memory_order_release);
  run& fresh = runs_[class_index];
  fresh.next = the_space.begin_of(*new_span);
  fresh.end = fresh.next + std::size_t{blocks_of_span(class_index)} * facts.bytes;
  return true;
}

/// Returns: a block that nobody had yet, or nullptr.
std::byte* owned_blocks::cut(size_class class_index) noexcept {
  run& fresh = runs_[class_index];
  if (fresh.next == fresh.end && !start_run(class_index)) return nullptr;
  std::byte* const block = fresh.next;
  fresh.next += class_table[class_index].bytes;
  return block;
}

/// Effects: the blocks of the class that are held back may be used again. Returns: whether there
/// were any.
bool owned_blocks::end_quarantine(size_class class_index) noexcept {
  if constexpr (chosen_profile.quarantines) {
    if (held_back_ == nullptr || held_back_->held(class_index) == 0) return false;
    held_back_->drain(class_index, [&](std::byte* const* blocks, std::size_t count) {
      for (std::size_t each = 0; each < count; ++each) push(blocks[each], class_index);
    });
    return true;
  }
  return false;
}

/// Returns: a block in a guarded page if it is the turn of this one, or nullptr. As many blocks are
/// asked for between two turns as a thread's cache gets at once from the heap of all threads.
void* owned_blocks::sample(size_class class_index) noexcept {
  if (blocks_taken_++ % class_table[class_index].batch != 0) return nullptr;
  void* const block = the_guards.sample_for(*this, class_index);
  if (block != nullptr) has_samples_ = true;
  return block;
}

void owned_blocks::release(void* block, span& home) noexcept {
  const bool is_alone = home.class_index == no_class;
  std::unique_lock hold{lock_};
  const std::optional<invalid> wrong = release_locked(static_cast<std::byte*>(block), home);
  hold.unlock();
  // Without the lock: a handler of SIGABRT may use the heap, and standard error may be slow.
  if (wrong) return invalid_free(block, *wrong);
  if (is_alone) give(home);
}

std::optional<invalid> owned_blocks::release_locked(std::byte* block, span& home) noexcept {
  const auto offset = static_cast<std::size_t>(block - the_space.begin_of(home));
  const size_class class_index = home.class_index;
  const std::size_t from_begin = class_index == no_class ? offset : offset % home.owned.block_bytes;
  if (from_begin != 0) return invalid::inside_block;
  if (const auto wrong = owned_links::free(block, class_index)) return wrong;
  if (class_index == no_class) {
    spans_.remove(home);
    return {};
  }
  if (free_[class_index] == block) return invalid::freed_before;
  if constexpr (chosen_profile.quarantines) block = hold_in(held_back_, block, class_index);
  if (block != nullptr) push(block, class_index);
  return {};
}

void owned_blocks::release_all() noexcept {
  const auto leave = [&]() -> span* {
    const std::lock_guard hold{lock_};
    span* const first = spans_.first();
    if (first != nullptr) spans_.remove(*first);
    return first;
  };
  while (span* const each = leave()) give(*each);
  if constexpr (chosen_profile.keeps_states) {
    if (has_samples_) the_guards.release_all_of(*this);
  }
  if constexpr (chosen_profile.quarantines) drop(held_back_);
  notice_free_memory();
}

void* allocate_owned(owned_blocks& from, std::size_t size_bytes, std::size_t alignment) noexcept {
  void* new_block = from.allocate(size_bytes, alignment);
  const bool possible = std::max(size_bytes, alignment) <= the_space.reserved_bytes();
  if (new_block == nullptr && possible && heap_has_started()) {
    free_what_waits();
    new_block = from.allocate(size_bytes, alignment);
  }
  return new_block != nullptr ? new_block : no_memory();
}

void release_owned(void* block, span& home) noexcept { home.owner->release(block, home); }

std::size_t owned_heap_count() noexcept {
  const std::lock_guard hold{live_heaps.lock};
  return live_heaps.count;
}

void lock_owned_heaps() noexcept {
  live_heaps.lock.lock();
  for (heapwise_heap* each = live_heaps.list.first(); each != nullptr; each = each->next) {
    each->blocks.lock().lock();
  }
}

void unlock_owned_heaps() noexcept {
  for (heapwise_heap* each = live_heaps.list.first(); each != nullptr; each = each->next) {
    each->blocks.lock().unlock();
  }
  live_heaps.lock.unlock();
}

} // namespace heapwise::detail

using namespace heapwise::detail;

heapwise_heap* heapwise_heap_create() {
  void* const memory = allocate_aligned(sizeof(heapwise_heap), alignof(heapwise_heap));
  if (memory == nullptr) return nullptr;
  auto* const new_heap = new (memory) heapwise_heap{};
  enlist(*new_heap);
  return new_heap;
}

void* heapwise_heap_malloc(heapwise_heap* heap, size_t size) {
  return heapwise_heap_aligned_alloc(heap, granule_bytes, size);
}

void* heapwise_heap_aligned_alloc(heapwise_heap* heap, size_t alignment, size_t size) {
  if (!std::has_single_bit(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return allocate_owned(heap->blocks, size, alignment);
}

void heapwise_heap_destroy(heapwise_heap* heap) {
  if (heap == nullptr) return;
  strike_off(*heap);
  heap->blocks.release_all();
  heap->~heapwise_heap();
  deallocate(heap);
}
