#include "heap/owned.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <mutex>
#include <new>

#include "heap/clock.hpp"
#include "heap/exported.hpp"
#include "heap/general.hpp"
#include "heap/invalid.hpp"
#include "heap/last_resort.hpp"
#include "heap/linked.hpp"
#include "heap/no_memory.hpp"
#include "heap/owned_links.hpp"
#include "heap/profile.hpp"
#include "heap/space.hpp"
#include "heap/start.hpp"

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
constinit all_heaps all;

void enlist(heapwise_heap& new_heap) noexcept {
  const std::lock_guard hold{all.lock};
  all.list.push(new_heap);
  ++all.count;
}

void strike_off(heapwise_heap& old_heap) noexcept {
  const std::lock_guard hold{all.lock};
  all.list.remove(old_heap);
  --all.count;
}
} // namespace

span* owned_blocks::make_span(std::size_t slices, std::size_t alignment) noexcept {
  bool clean = false;
  span* const new_span = the_space.take(slices, alignment, clean);
  if (new_span == nullptr) return nullptr;
  for (std::uint32_t each = 1; each < slices; ++each) {
    new_span[each].slices = each;
    new_span[each].use.store(slice_use::inside, std::memory_order_relaxed);
  }
  new_span->owner = this;
  new_span->bytes = 0;
  spans_.push(*new_span);
  return new_span;
}

void* owned_blocks::allocate(std::size_t size_bytes, std::size_t alignment) noexcept {
  if (!start_heap() || size_bytes > PTRDIFF_MAX - slice_bytes) return nullptr;
  std::unique_lock hold{lock_};
  if (size_bytes > max_small_bytes || alignment > max_small_bytes) {
    const std::size_t slices = (size_bytes + slice_bytes - 1) / slice_bytes;
    if (slices > the_space.reserved_bytes() / slice_bytes) return nullptr;
    span* const new_span =
        make_span(slices == 0 ? 1 : slices, alignment > slice_bytes ? alignment / slice_bytes : 1);
    if (new_span == nullptr) return nullptr;
    new_span->of = no_class;
    new_span->bytes = new_span->slices * slice_bytes;
    // Release: pairs with the acquire in look_up. The owner and the length were written before.
    new_span->use.store(slice_use::owned, std::memory_order_release);
    return the_space.begin_of(*new_span);
  }
  const auto class_index = static_cast<size_class>(aligned_class_of(size_bytes, alignment));
  if (std::byte* const block = free_[class_index]; block != nullptr) {
    std::byte* const next = owned_links::read(block);
    if constexpr (chosen_profile::keeps_states) {
      if (!owned_links::leads_to_free(next)) {
        hold.unlock(); // as in release
        invalid_free(block, invalid::written_when_free);
      }
    }
    free_[class_index] = next;
    owned_links::use(block, class_index);
    return block;
  }
  const class_facts& facts = class_table[class_index];
  run& fresh = runs_[class_index];
  if (fresh.next == fresh.end) {
    span* const new_span = make_span(facts.slices, 1);
    if (new_span == nullptr) return nullptr;
    new_span->of = static_cast<std::uint8_t>(class_index);
    new_span->bytes = facts.bytes;
    owned_links::forget_states(*new_span);
    // Release: as above.
    new_span->use.store(slice_use::owned, std::memory_order_release);
    fresh.next = the_space.begin_of(*new_span);
    fresh.end = fresh.next + std::size_t{facts.blocks} * facts.bytes;
  }
  std::byte* const block = fresh.next;
  fresh.next += facts.bytes;
  owned_links::use(block, class_index);
  return block;
}

void owned_blocks::give(span& empty_span) noexcept {
  spans_.remove(empty_span);
  the_space.give(empty_span);
}

void owned_blocks::release(void* block, span& home) noexcept {
  std::unique_lock hold{lock_};
  const std::optional<invalid> wrong = release_locked(block, home);
  hold.unlock();
  // Without the lock: a handler of SIGABRT may use the heap, and standard error may be slow.
  if (wrong) invalid_free(block, *wrong);
}

std::optional<invalid> owned_blocks::release_locked(void* block, span& home) noexcept {
  const auto offset =
      static_cast<std::size_t>(static_cast<std::byte*>(block) - the_space.begin_of(home));
  if (offset % home.bytes != 0) return invalid::inside_block;
  const size_class class_index = home.of;
  if constexpr (chosen_profile::keeps_states) {
    if (const auto wrong = owned_links::free(block, class_index)) return wrong;
  }
  if (class_index == no_class) {
    give(home);
    return {};
  }
  if (free_[class_index] == block) return invalid::freed_before;
  owned_links::write(static_cast<std::byte*>(block), free_[class_index]);
  free_[class_index] = static_cast<std::byte*>(block);
  return {};
}

void owned_blocks::release_all() noexcept {
  {
    const std::lock_guard hold{lock_};
    while (span* const each = spans_.first()) give(*each);
  }
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
  const std::lock_guard hold{all.lock};
  return all.count;
}

void lock_owned_heaps() noexcept {
  all.lock.lock();
  for (heapwise_heap* each = all.list.first(); each != nullptr; each = each->next) {
    each->blocks.lock().lock();
  }
}

void unlock_owned_heaps() noexcept {
  for (heapwise_heap* each = all.list.first(); each != nullptr; each = each->next) {
    each->blocks.lock().unlock();
  }
  all.lock.unlock();
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
