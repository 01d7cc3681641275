#include "gc/roots/roots.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "gc/roots/stacks.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "gc/state/warning.hpp"
#include "gc/threads/threads.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

struct root_list {
  page_list<root>& ranges;
  bool complete = true;
};

void add_root(os::memory_range range, bool on_stack, root_list& list) noexcept {
  constexpr std::uintptr_t word = sizeof(std::uintptr_t);
  const auto begin = (reinterpret_cast<std::uintptr_t>(range.begin) + word - 1) / word * word;
  const auto end = reinterpret_cast<std::uintptr_t>(range.end) / word * word;
  if (begin >= end) return;
  const bool added = list.ranges.add(
      {{reinterpret_cast<const void*>(begin), reinterpret_cast<const void*>(end)}, on_stack});
  list.complete = list.complete && added;
}

/// Effects: adds what of the range the program has not excluded. What lies behind an excluded part
/// is looked at from the first of them on.
void add_static(os::memory_range range, root_list& list) noexcept {
  const auto* at = static_cast<const std::byte*>(range.begin);
  const auto* const end = static_cast<const std::byte*>(range.end);
  while (at < end) {
    const auto* next_begin = end; // of what is excluded
    const auto* next_end = end;
    for (const os::memory_range& each : the_gc.excluded_roots) {
      const auto* const begin = std::max(static_cast<const std::byte*>(each.begin), at);
      const auto* const behind = static_cast<const std::byte*>(each.end);
      if (behind <= at || begin >= next_begin) continue;
      next_begin = begin;
      next_end = behind;
    }
    add_root({at, next_begin}, false, list);
    at = next_end;
  }
}

void add_thread(const thread_record& of_thread, root_list& list) noexcept {
  each_stack_part(
      of_thread,
      [](os::memory_range range, void* argument) {
        add_root(range, true, *static_cast<root_list*>(argument));
      },
      &list);
  const auto* const values = of_thread.value.data();
  add_root({values, values + of_thread.values}, false, list);
}

void describe_self(const void* lowest) noexcept {
  thread_record& self = *this_thread;
  const map where = the_gc.memory.what_is_where();
  self.stack_lowest = lowest;
  self.signal_stack_end = os::signal_stack_end();
  self.values = os::thread_values({reinterpret_cast<const void*>(where.base),
                                   reinterpret_cast<const void*>(where.base + where.extent)},
                                  self.value.data(), self.value.size());
}

/// Returns: whether it is known of each thread where its thread-local variables are.
bool read_tables() noexcept {
  for (thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    if (!each->variables.read(the_gc.loader, each->id)) return false;
  }
  return true;
}

void add_variables(const os::thread_variables& of_library, void* argument) noexcept {
  for (const thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    add_root(each->variables.find(of_library), false, *static_cast<root_list*>(argument));
  }
}

} // namespace

void stop_world_with_tables() noexcept {
  constexpr std::uint32_t most_ms = 64; // doubled until a busy machine lets the thread run at all
  constexpr int tries_in_a_second = 20;
  constexpr std::string_view delay =
      "heapwise: a collection waits for a thread that replaces the table of its thread-local "
      "variables for more than a second\n";
  std::atomic<std::uint32_t> nothing{0};
  std::uint32_t wait_ms = 1;
  stop_world();
  for (int tries = 0; !read_tables(); ++tries) {
    resume_world();
    if (tries == tries_in_a_second) warn(detail::text{}.add(delay));
    os::wait(nothing, 0, wait_ms);
    wait_ms = std::min(2 * wait_ms, most_ms);
    stop_world();
  }
}

bool gather_roots(page_list<root>& into, const void* lowest) noexcept {
  expects_lock();
  expects_still_world();
  into.clear();
  root_list list{into};
  describe_self(lowest);
  os::each_static_range(
      [](os::memory_range range, void* argument) {
        add_static(range, *static_cast<root_list*>(argument));
      },
      &list);
  os::each_thread_variables(the_gc.loader, add_variables, &list);
  add_root(the_gc.attached.of_blocks.words(), false, list);
  add_root({the_gc.attached.ready.begin(), the_gc.attached.ready.end()}, false, list);
  // As on the stack of the thread that returned it, an address may be one inside of a block.
  add_root({the_gc.results.begin(), the_gc.results.end()}, true, list);
  for (const os::memory_range& each : the_gc.added_roots) add_root(each, false, list);
  for (const os::memory_range& each : the_gc.added_stacks) add_root(each, true, list);
  for (const thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    add_thread(*each, list);
  }
  return list.complete;
}

} // namespace heapwise::gc
