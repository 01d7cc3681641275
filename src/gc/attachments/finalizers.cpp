#include "gc/attachments/finalizers.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "gc/mark/mark.hpp"
#include "gc/state/blocks.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "heapwise/detail/config.hpp"

namespace heapwise::gc {

namespace {

void mark_from_all(page_list<root>& roots, bool worth_help) noexcept {
  const bool overflowed = mark_from(roots, the_gc.memory.what_is_where(), worth_help);
  the_gc.counted.mark_stack_overflows += overflowed ? 1 : 0;
}

void add_or_mark(os::memory_range words, page_list<root>& roots, bool worth_help) noexcept {
  if (words.begin == words.end || roots.add({words, false})) return;
  mark_from_all(roots, worth_help); // uses them up: now there is room
  static_cast<void>(roots.add({words, false}));
}

/// Effects: adds the words of a block that do not point into it, or marks what its marking function
/// names. A block that points to itself must not wait for itself. Requires: mark_from_all comes
/// afterwards.
HEAPWISE_READS_ANYTHING void add_words_of(const found_block& block, page_list<root>& roots,
                                          bool worth_help) noexcept {
  const layout* const its = layout_of(block);
  if (its != nullptr && its->function != nullptr) return mark_named_by(block);
  const auto* const begin = reinterpret_cast<const std::uintptr_t*>(block.begin);
  const std::uintptr_t* const end = begin + block.bytes / sizeof(std::uintptr_t);
  const std::uintptr_t* from = begin;
  for (const std::uintptr_t* word = begin; word != end; ++word) {
    if (*word - reinterpret_cast<std::uintptr_t>(begin) >= block.bytes) continue;
    add_or_mark({from, word}, roots, worth_help);
    from = word + 1;
  }
  add_or_mark({from, end}, roots, worth_help);
}

bool waits_for_its_end(const attachment& entry) noexcept {
  return entry.call != nullptr && !is_marked(entry.block());
}

/// Effects: the finalizer is ready. Without memory, it is found by the next collection.
void add_ready(attachment& entry) noexcept {
  if (!the_gc.attached.ready.add({entry.block(), entry.call, entry.argument})) return;
  entry.call = nullptr;
  entry.argument = nullptr;
  the_gc.attached.notice_due.store(true, std::memory_order_relaxed);
}

/// Effects: all finalizers without an order are ready whose blocks have no mark, and what they may
/// use is marked. One that could not be written down waits as if it had an order.
void find_unordered(page_list<root>& roots, bool worth_help) noexcept {
  page_list<ready_finalizer>& ready = the_gc.attached.ready;
  const std::size_t before = ready.size();
  the_gc.attached.of_blocks.each([](attachment& each) {
    if (each.unordered && waits_for_its_end(each)) add_ready(each);
  });
  if (ready.size() == before) return;
  std::for_each(ready.begin() + before, ready.end(), [&](const ready_finalizer& each) {
    const found_block block = block_around(each.block);
    set_mark(each.block);
    if (!block.atomic) add_words_of(block, roots, worth_help);
  });
  mark_from_all(roots, worth_help);
}

/// Returns: whether there was one. Effects: `into` is all that knows of it.
bool take_ready(ready_finalizer& into) noexcept {
  attachments& attached = the_gc.attached;
  const std::lock_guard hold{the_gc.lock};
  while (attached.taken < attached.ready.size()) {
    into = attached.ready.begin()[attached.taken];
    attached.ready.begin()[attached.taken++] = {};
    if (into.block != nullptr) return true;
  }
  attached.ready.clear();
  attached.taken = 0;
  return false;
}

} // namespace

int set_finalizer(void* block, heapwise_gc_finalizer* call, void* argument,
                  bool unordered) noexcept {
  if (!is_block(block)) return EINVAL;
  const std::lock_guard hold{the_gc.lock};
  attachment* const its =
      call == nullptr ? the_gc.attached.of_blocks.find(block) : attachment_of(block);
  if (its == nullptr) return call == nullptr ? 0 : ENOMEM;
  its->call = call;
  its->argument = call == nullptr ? nullptr : argument;
  its->unordered = unordered;
  remove_if_empty(its);
  return 0;
}

std::size_t run_finalizers() noexcept {
  std::size_t count = 0;
  for (ready_finalizer next{}; take_ready(next); ++count) next.call(next.block, next.argument);
  return count;
}

void give_notice() noexcept {
  // Relaxed: the lock below orders what the notice is about.
  if (!the_gc.attached.notice_due.load(std::memory_order_relaxed)) return;
  heapwise_gc_notice* notice = nullptr;
  void* argument = nullptr;
  {
    const std::lock_guard hold{the_gc.lock};
    if (!the_gc.attached.notice_due.exchange(false, std::memory_order_relaxed)) return;
    notice = the_gc.attached.notice;
    argument = the_gc.attached.notice_argument;
  }
  if (notice != nullptr) notice(argument);
}

void forget_ready(const void* block) noexcept {
  expects_lock();
  for (ready_finalizer& each : the_gc.attached.ready) {
    if (each.block == block) each = {};
  }
}

bool move_ready(const void* from, void* to) noexcept {
  expects_lock();
  bool any = false;
  for (ready_finalizer& each : the_gc.attached.ready) {
    if (each.block != from) continue;
    each.block = to;
    any = true;
  }
  return any;
}

void find_ready(page_list<root>& roots, bool worth_help) noexcept {
  expects_still_world();
  find_unordered(roots, worth_help);
  attachment_table& table = the_gc.attached.of_blocks;
  bool any = false;
  table.each([&](const attachment& each) {
    if (!waits_for_its_end(each)) return;
    any = true;
    const found_block block = block_around(each.block());
    if (!block.atomic) add_words_of(block, roots, worth_help);
  });
  if (!any) return;
  mark_from_all(roots, worth_help);
  // Those that are marked now are led to by another one, and have to wait for it.
  table.each([&](attachment& each) {
    if (!waits_for_its_end(each)) return;
    set_mark(each.block());
    add_ready(each);
  });
}

void make_ready(void* block) noexcept {
  expects_lock();
  attachment* const its = the_gc.attached.of_blocks.find(block);
  if (its != nullptr && its->call != nullptr) add_ready(*its);
}

std::size_t ready_count() noexcept {
  expects_lock();
  std::size_t count = 0;
  for (const ready_finalizer& each : the_gc.attached.ready) count += each.block != nullptr ? 1 : 0;
  return count;
}

} // namespace heapwise::gc
