#include "gc/attachments/weak.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>

#include "gc/base/misuse.hpp"
#include "gc/state/blocks.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "gc/threads/threads.hpp"
#include "heapwise/detail/config.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

std::size_t targets_of_a_page() noexcept { return os::page_bytes() / sizeof(weak_target); }

template <class Visit>
void each_target(Visit visit) noexcept {
  for (weak_target* const first : the_gc.attached.targets) {
    for (std::size_t each = 0; each < targets_of_a_page(); ++each) {
      if (first[each].cell != nullptr) visit(first[each]);
    }
  }
}

/// Returns: whether there is one.
bool make_unused() noexcept {
  attachments& attached = the_gc.attached;
  if (attached.unused != nullptr) return true;
  auto* const first = static_cast<weak_target*>(os::map(os::page_bytes(), os::page_bytes()));
  if (first == nullptr) return false;
  if (!attached.targets.add(first)) {
    os::unmap(first, os::page_bytes());
    return false;
  }
  for (std::size_t each = 0; each < targets_of_a_page(); ++each) {
    auto* const target = ::new (static_cast<void*>(first + each)) weak_target{};
    target->next = attached.unused;
    attached.unused = target;
  }
  return true;
}

/// Effects: takes the target out of the list of its block.
void unlink(weak_target& target) noexcept {
  void* const block = target.block.load(std::memory_order_relaxed);
  if (block == nullptr) return;
  attachment* const its = the_gc.attached.of_blocks.find(block);
  weak_target** link = &its->weak;
  while (*link != &target) link = &(*link)->next;
  *link = target.next;
  target.block.store(nullptr, std::memory_order_relaxed);
}

void give_back(weak_target& target) noexcept {
  target.cell = nullptr;
  target.next = the_gc.attached.unused;
  the_gc.attached.unused = &target;
}

void forget(heapwise_gc_weak& cell) noexcept {
  auto* const target = static_cast<weak_target*>(cell.target);
  if (target == nullptr) return;
  cell.target = nullptr;
  void* const block = target->block.load(std::memory_order_relaxed);
  unlink(*target);
  give_back(*target);
  if (block != nullptr) remove_if_empty(the_gc.attached.of_blocks.find(block));
}

/// Effects: the marks of the block that a cell lies in, if any, are written by each collection.
void note_cell(const heapwise_gc_weak& cell) noexcept {
  const found_block around = block_around(&cell);
  if (around.begin == nullptr) return;
  the_gc.memory.record(around.slice).attached.store(true, std::memory_order_relaxed);
}

/// Effects: the address of the cell is in a register or on the stack until here. So a collection
/// finds it, and keeps the block that the cell lies in. Otherwise it could give the target back,
/// and the target could be that of another cell.
HEAPWISE_ALWAYS_INLINE void keep_until_here(const heapwise_gc_weak& cell) noexcept {
  asm volatile("" : : "r"(&cell) : "memory");
}

} // namespace

int set_weak(heapwise_gc_weak& cell, void* block, bool until_freed) noexcept {
  if (block != nullptr && !is_block(block)) return EINVAL;
  const std::lock_guard hold{the_gc.lock};
  if (block == nullptr) {
    forget(cell);
    return 0;
  }
  if (!make_unused()) return ENOMEM;
  attachment* its = attachment_of(block);
  if (its == nullptr) return ENOMEM;
  ++its->keepers; // what the cell referred to may be this block, and nothing else be attached to it
  forget(cell);
  its = the_gc.attached.of_blocks.find(block); // others may have moved
  --its->keepers;
  weak_target* const target = the_gc.attached.unused;
  the_gc.attached.unused = target->next;
  target->block.store(block, std::memory_order_relaxed);
  target->cell = &cell;
  note_cell(cell);
  target->until_freed = until_freed;
  target->written_in = the_gc.memory.age();
  target->next = its->weak;
  its->weak = target;
  cell.target = target;
  return 0;
}

void* get_weak(const heapwise_gc_weak& cell) noexcept {
  auto* const target = static_cast<weak_target*>(cell.target);
  if (target == nullptr) return nullptr;
  if (this_thread == nullptr && !register_if_chosen()) [[unlikely]] {
    refuse("heapwise_gc_get_weak", " in a thread that is not registered");
  }
  // One instruction, before or after which a collection stops this thread: after it the address is
  // in a register, which is looked through; before it, the collection has emptied the target.
  if (the_gc.chosen.concurrent_bytes == 0) {
    void* const block = target->block.load(std::memory_order_relaxed);
    keep_until_here(cell);
    return block;
  }
  // A copy may mark that does not know of the address that this thread is about to get. Under the
  // lock no copy begins or ends.
  const std::lock_guard hold{the_gc.lock};
  void* const block = target->block.load(std::memory_order_relaxed);
  if (the_gc.copy.marks() && block != nullptr && target->read_in != the_gc.memory.age()) {
    target->read_in = the_gc.memory.age();
    the_gc.copy.note_read(block);
  }
  keep_until_here(cell);
  return block;
}

void refer_to(weak_target* first, void* block) noexcept {
  expects_lock();
  for (weak_target* each = first; each != nullptr; each = each->next) {
    each->block.store(block, std::memory_order_relaxed);
  }
}

void empty_weak_references(attachment& entry) noexcept {
  expects_lock();
  refer_to(entry.weak, nullptr);
  entry.weak = nullptr;
}

void empty_lost_weak_references(bool until_freed) noexcept {
  expects_still_world();
  the_gc.attached.of_blocks.each([=](attachment& each) {
    if (each.weak == nullptr || is_marked(each.block())) return;
    for (weak_target** link = &each.weak; *link != nullptr;) {
      weak_target& target = **link;
      if (target.until_freed != until_freed) {
        link = &target.next;
        continue;
      }
      *link = target.next;
      target.block.store(nullptr, std::memory_order_relaxed);
    }
  });
}

void give_back_lost_cells() noexcept {
  expects_lock();
  each_target([](weak_target& target) {
    const found_block around = block_around(target.cell);
    if (around.begin == nullptr || is_marked(around.begin)) return;
    unlink(target);
    give_back(target);
  });
}

std::size_t most_targets() noexcept {
  expects_lock();
  return the_gc.attached.targets.size() * targets_of_a_page();
}

std::size_t list_empty_targets(weak_target** into) noexcept {
  expects_lock();
  std::size_t count = 0;
  each_target([&](weak_target& target) {
    if (target.block.load(std::memory_order_relaxed) == nullptr) into[count++] = &target;
  });
  return count;
}

bool somebody_read(weak_target* const* targets, std::size_t count) noexcept {
  expects_lock();
  return std::any_of(targets, targets + count, [](const weak_target* each) {
    return each->read_in == the_gc.memory.age() &&
           each->block.load(std::memory_order_relaxed) != nullptr;
  });
}

void empty_targets(weak_target* const* targets, std::size_t count) noexcept {
  expects_lock();
  std::for_each(targets, targets + count, [](weak_target* each) {
    if (each->written_in != the_gc.memory.age()) unlink(*each);
  });
}

std::size_t weak_count() noexcept {
  expects_lock();
  std::size_t count = 0;
  each_target([&](const weak_target&) { ++count; });
  return count;
}

} // namespace heapwise::gc
