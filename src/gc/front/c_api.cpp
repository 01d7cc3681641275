#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>

#include "gc/attachments/attachments.hpp"
#include "gc/attachments/finalizers.hpp"
#include "gc/attachments/weak.hpp"
#include "gc/checks/guards.hpp"
#include "gc/collect/collect.hpp"
#include "gc/front/allocate.hpp"
#include "gc/front/start.hpp"
#include "gc/front/statistics.hpp"
#include "gc/mark/displacements.hpp"
#include "gc/state/blocks.hpp"
#include "gc/state/layouts.hpp"
#include "gc/state/state.hpp"
#include "gc/threads/held_world.hpp"
#include "gc/threads/results.hpp"
#include "gc/threads/threads.hpp"
#include "heapwise/detail/config.hpp"

namespace gc = heapwise::gc;
using gc::the_gc;

namespace heapwise::gc {

namespace {

int add(page_list<os::memory_range>& to, os::memory_range range) noexcept {
  const std::lock_guard hold{the_gc.lock};
  return to.add(range) ? 0 : ENOMEM;
}

void remove(page_list<os::memory_range>& from, os::memory_range range) noexcept {
  const std::lock_guard hold{the_gc.lock};
  for (os::memory_range& each : from) {
    if (each.begin != range.begin || each.end != range.end) continue;
    each = from.last();
    from.remove_last();
    return;
  }
}

} // namespace

} // namespace heapwise::gc

int heapwise_gc_init(const heapwise_gc_options* options) { return gc::start(options); }

void* heapwise_gc_malloc_any(std::size_t size) {
  return gc::allocate(size, false, __builtin_return_address(0));
}

// The function that has no body in callers: under the name that gc.h gives to the inlined one.
extern "C" HEAPWISE_EXPORT void* heapwise_gc_malloc_called(std::size_t size) __asm__(
    "heapwise_gc_malloc");
void* heapwise_gc_malloc_called(std::size_t size) {
  return gc::allocate(size, false, __builtin_return_address(0));
}

void* heapwise_gc_malloc_atomic(std::size_t size) {
  return gc::allocate(size, true, __builtin_return_address(0));
}

void* heapwise_gc_malloc_aligned(std::size_t alignment, std::size_t size) {
  return gc::allocate_aligned(alignment, size, __builtin_return_address(0));
}

const heapwise_gc_layout* heapwise_gc_make_layout(std::size_t element_bytes,
                                                  const std::size_t* offsets, std::size_t count) {
  return gc::make_layout(element_bytes, offsets, count);
}

const heapwise_gc_layout* heapwise_gc_make_marked_layout(heapwise_gc_mark_function* function,
                                                         void* argument) {
  return gc::make_marked_layout(function, argument);
}

void* heapwise_gc_malloc_typed(const heapwise_gc_layout* layout, std::size_t size) {
  return gc::allocate_typed(*layout, size, __builtin_return_address(0));
}

void* heapwise_gc_malloc_uncollectable(std::size_t size) {
  return gc::allocate_kept(size, false, __builtin_return_address(0));
}

void* heapwise_gc_malloc_atomic_uncollectable(std::size_t size) {
  return gc::allocate_kept(size, true, __builtin_return_address(0));
}

int heapwise_gc_keep(void* block) { return gc::keep(block); }

void heapwise_gc_stop_keeping(void* block) { gc::stop_keeping(block); }

void* heapwise_gc_realloc(void* block, std::size_t size) {
  if (block == nullptr) return gc::allocate(size, false, __builtin_return_address(0));
  constexpr std::string_view called = "heapwise_gc_realloc";
  const gc::found_block old_block = gc::block_at(block, called);
  const std::size_t old_bytes = gc::usable_bytes(old_block);
  if (!the_gc.chosen.debug && size <= old_bytes && size > old_bytes / 2) {
    // What lies behind may be asked for again, and has to be zero then.
    if (!old_block.atomic) std::memset(old_block.begin + size, 0, old_bytes - size);
    return block;
  }
  void* const new_block = gc::allocate_like(old_block, size, __builtin_return_address(0));
  if (new_block == nullptr) return nullptr;
  std::memcpy(new_block, block, std::min(size, old_bytes));
  // Memory that the program gives because there is no other may not be a block.
  if (gc::is_block(new_block) && !gc::move_attachments(block, new_block)) {
    heapwise_gc_free(new_block);
    errno = ENOMEM;
    return nullptr;
  }
  gc::release(old_block, called);
  return new_block;
}

void heapwise_gc_free(void* block) {
  if (block == nullptr) return;
  constexpr std::string_view called = "heapwise_gc_free";
  gc::release(gc::block_at(block, called), called);
}

void heapwise_gc_collect(void) {
  if (gc::this_thread == nullptr && heapwise_gc_init(nullptr) != 0) return;
  gc::collect();
}

void heapwise_gc_collect_and_release(void) {
  if (gc::this_thread == nullptr && heapwise_gc_init(nullptr) != 0) return;
  gc::collect_and_release();
}

void heapwise_gc_each_block(heapwise_gc_block_visitor* visit, void* argument) {
  if (gc::this_thread == nullptr && heapwise_gc_init(nullptr) != 0) return;
  gc::collect(visit, argument);
}

int heapwise_gc_stop_world(void) {
  // Pairs with the release in heapwise_gc_init.
  if (!the_gc.started.load(std::memory_order_acquire)) {
    if (const int error = heapwise_gc_init(nullptr); error != 0) return error;
  }
  gc::hold_world();
  return 0;
}

void heapwise_gc_start_world(void) { gc::release_world(); }

void heapwise_gc_set_limit(std::size_t limit_bytes) {
  const std::lock_guard hold{the_gc.lock};
  the_gc.memory.limit_to(limit_bytes);
}

void heapwise_gc_set_free_space_divisor(std::size_t divisor) {
  const std::lock_guard hold{the_gc.lock};
  the_gc.chosen.free_space_divisor = divisor == 0 ? gc::settings{}.free_space_divisor : divisor;
}

void heapwise_gc_disable(void) {
  const std::lock_guard hold{the_gc.lock};
  ++the_gc.disabled;
}

void heapwise_gc_enable(void) {
  const std::lock_guard hold{the_gc.lock};
  if (the_gc.disabled > 0) --the_gc.disabled;
}

int heapwise_gc_register_thread(void) {
  // Pairs with the release in heapwise_gc_init.
  if (!the_gc.started.load(std::memory_order_acquire)) return heapwise_gc_init(nullptr);
  return gc::register_this_thread() ? 0 : ENOMEM;
}

void heapwise_gc_unregister_thread(void) { gc::unregister_this_thread(); }

std::size_t heapwise_gc_add_result(int is_detached) { return gc::add_result(is_detached != 0); }

void heapwise_gc_name_result(std::size_t number, unsigned long thread) {
  gc::name_result(number, thread);
}

void heapwise_gc_set_result(unsigned long thread, void* result) { gc::set_result(thread, result); }

std::size_t heapwise_gc_find_result(unsigned long thread) { return gc::find_result(thread); }

void heapwise_gc_detach_result(unsigned long thread) { gc::detach_result(thread); }

void heapwise_gc_remove_result(std::size_t number) { gc::remove_result(number); }

int heapwise_gc_add_roots(const void* begin, const void* end) {
  return gc::add(the_gc.added_roots, {begin, end});
}

void heapwise_gc_remove_roots(const void* begin, const void* end) {
  gc::remove(the_gc.added_roots, {begin, end});
}

int heapwise_gc_add_displacement(std::size_t bytes) {
  if (bytes >= gc::displacements::end_bytes) return EINVAL;
  const std::lock_guard hold{the_gc.lock};
  gc::the_displacements.add(bytes);
  return 0;
}

int heapwise_gc_exclude_roots(const void* begin, const void* end) {
  return gc::add(the_gc.excluded_roots, {begin, end});
}

void heapwise_gc_include_roots(const void* begin, const void* end) {
  gc::remove(the_gc.excluded_roots, {begin, end});
}

int heapwise_gc_add_stack(const void* begin, const void* end) {
  return gc::add(the_gc.added_stacks, {begin, end});
}

void heapwise_gc_remove_stack(const void* begin, const void* end) {
  gc::remove(the_gc.added_stacks, {begin, end});
}

void* heapwise_gc_base(const void* address) { return gc::block_around(address).begin; }

std::size_t heapwise_gc_usable_size(const void* block) {
  const gc::found_block place = gc::block_around(block);
  return place.begin != nullptr && place.begin == block ? gc::usable_bytes(place) : 0;
}

void heapwise_gc_on_leak(heapwise_gc_leak_report* report, void* argument) {
  const std::lock_guard hold{the_gc.lock};
  the_gc.report = report;
  the_gc.report_argument = argument;
}

void heapwise_gc_statistics_get(heapwise_gc_statistics* into) { *into = gc::statistics(); }

int heapwise_gc_set_finalizer(void* block, heapwise_gc_finalizer* call, void* argument) {
  return gc::set_finalizer(block, call, argument, false);
}

int heapwise_gc_set_unordered_finalizer(void* block, heapwise_gc_finalizer* call, void* argument) {
  return gc::set_finalizer(block, call, argument, true);
}

void heapwise_gc_on_collection(heapwise_gc_collection_report* report, void* argument) {
  const std::lock_guard hold{the_gc.lock};
  the_gc.collection_report = report;
  the_gc.collection_argument = argument;
}

void heapwise_gc_on_event(heapwise_gc_event_report* report, void* argument) {
  const std::lock_guard hold{the_gc.lock};
  the_gc.events.report = report;
  the_gc.events.argument = argument;
}

void heapwise_gc_on_thread_event(heapwise_gc_thread_report* report, void* argument) {
  const std::lock_guard hold{the_gc.lock};
  the_gc.events.thread_report = report;
  the_gc.events.thread_argument = argument;
}

std::size_t heapwise_gc_run_finalizers(void) { return gc::run_finalizers(); }

void heapwise_gc_on_finalizers_ready(heapwise_gc_notice* notice, void* argument) {
  const std::lock_guard hold{the_gc.lock};
  the_gc.attached.notice = notice;
  the_gc.attached.notice_argument = argument;
}

int heapwise_gc_set_weak(heapwise_gc_weak* cell, void* block) {
  return gc::set_weak(*cell, block, false);
}

int heapwise_gc_set_long_weak(heapwise_gc_weak* cell, void* block) {
  return gc::set_weak(*cell, block, true);
}

void* heapwise_gc_get_weak(const heapwise_gc_weak* cell) { return gc::get_weak(*cell); }

void heapwise_gc_on_no_memory(heapwise_gc_no_memory* call, void* argument) {
  const std::lock_guard hold{the_gc.lock};
  the_gc.without_memory = call;
  the_gc.without_memory_argument = argument;
}

void heapwise_gc_on_warning(heapwise_gc_warning* warning, void* argument) {
  const std::lock_guard hold{the_gc.lock};
  the_gc.warning = warning;
  the_gc.warning_argument = argument;
}

void heapwise_gc_on_damage(heapwise_gc_damage_report* report, void* argument) {
  const std::lock_guard hold{the_gc.lock};
  the_gc.damage_report = report;
  the_gc.damage_argument = argument;
}
