#include "gc/attachments/attachments.hpp"

#include <cerrno>
#include <mutex>

#include "gc/attachments/finalizers.hpp"
#include "gc/attachments/weak.hpp"
#include "gc/mark/mark.hpp"
#include "gc/state/blocks.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"

namespace heapwise::gc {

namespace {

attachment_table& table() noexcept { return the_gc.attached.of_blocks; }

/// Effects: what is attached to the block is forgotten when it is freed.
void note_attached(const void* block) noexcept {
  // Relaxed: who frees the block learned of its address from this thread.
  the_gc.memory.record(block_around(block).slice).attached.store(true, std::memory_order_relaxed);
}

/// Effects: as move_attachments, without finalizers that are ready. Requires: the lock.
bool move_entry(const void* from, void* to) noexcept {
  expects_lock();
  attachment* old = table().find(from);
  if (old == nullptr) return true;
  attachment* const target = attachment_of(to);
  if (target == nullptr) return false;
  old = table().find(from); // the table may have grown
  target->keepers = old->keepers;
  target->kept = old->keepers > 0 ? to : nullptr;
  target->call = old->call;
  target->argument = old->argument;
  target->unordered = old->unordered;
  target->weak = old->weak;
  refer_to(target->weak, to);
  table().remove(old);
  return true;
}

} // namespace

attachment* attachment_of(void* block) noexcept {
  expects_lock();
  expects([&] { return is_block(block); }, "a block begins there");
  attachment* const entry = table().find_or_add(block);
  if (entry != nullptr) note_attached(block);
  return entry;
}

void remove_if_empty(attachment* entry) noexcept {
  expects_lock();
  if (entry->is_empty()) table().remove(entry);
}

int keep(void* block) noexcept {
  if (!is_block(block)) return EINVAL;
  const std::lock_guard hold{the_gc.lock};
  attachment* const its = attachment_of(block);
  if (its == nullptr) return ENOMEM;
  its->kept = block;
  ++its->keepers;
  return 0;
}

void stop_keeping(void* block) noexcept {
  const std::lock_guard hold{the_gc.lock};
  attachment* const its = table().find(block);
  if (its == nullptr || its->keepers == 0) return;
  if (--its->keepers == 0) its->kept = nullptr;
  remove_if_empty(its);
}

void forget_attachments(const void* block) noexcept {
  const std::lock_guard hold{the_gc.lock};
  forget_ready(block);
  attachment* const its = table().find(block);
  if (its == nullptr) return;
  empty_weak_references(*its);
  table().remove(its);
}

bool move_attachments(const void* from, void* to) noexcept {
  const std::lock_guard hold{the_gc.lock};
  expects([&] { return table().find(to) == nullptr; }, "nothing is attached to the target");
  if (!move_entry(from, to)) return false;
  if (move_ready(from, to)) note_attached(to);
  return true;
}

void settle_attachments(page_list<root>& roots, bool worth_help) noexcept {
  expects_still_world();
  expects(roots.size() == 0, "the list of roots is used up");
  if (table().size() == 0 && the_gc.attached.targets.size() == 0) return;
  empty_lost_weak_references(false);
  find_ready(roots, worth_help);
  empty_lost_weak_references(true);
  forget_lost_attachments();
}

void forget_lost_attachments() noexcept {
  expects_lock();
  give_back_lost_cells();
  table().remove_if([](attachment& each) {
    const bool lost = !is_marked(each.block());
    if (lost) empty_weak_references(each);
    return lost || each.is_empty();
  });
}

} // namespace heapwise::gc
