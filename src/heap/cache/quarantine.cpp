#include "heap/cache/quarantine.hpp"

#include <type_traits>

#include "heap/base/metadata.hpp"
#include "heap/base/random_numbers.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/space/slice_map.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

static_assert(std::is_trivially_default_constructible_v<quarantine>);

quarantine*& quarantine_of(heap_cache& cache) noexcept {
  return static_cast<thread_cache&>(cache).held_back;
}

std::size_t mapped_bytes() noexcept { return round_up(sizeof(quarantine), os::page_bytes()); }

} // namespace

std::byte* hold_in(quarantine*& held, std::byte* block, size_class class_index) noexcept {
  if (held == nullptr) {
    // Nothing is written: a page of it is resident when a class there needs it.
    held = static_cast<quarantine*>(map_metadata(mapped_bytes(), os::page_bytes()));
    if (held == nullptr) return block;
  }
  return held->exchange(block, class_index, random_below(quarantine::places(class_index)));
}

std::byte* hold_back(heap_cache& cache, std::byte* block, size_class class_index) noexcept {
  return hold_in(quarantine_of(cache), block, class_index);
}

void release_held(heap_cache& cache, size_class class_index) noexcept {
  quarantine* const held = quarantine_of(cache);
  if (held == nullptr || class_index == mixed_class) return;
  held->drain(class_index, [class_index](std::byte* const* blocks, std::size_t count) {
    put_back(blocks, count, class_index);
  });
}

std::size_t count_held(heap_cache& cache, size_class class_index) noexcept {
  const quarantine* const held = quarantine_of(cache);
  return held == nullptr ? 0 : held->held(class_index);
}

namespace {

std::size_t count_held_of_all(heap_cache& cache) noexcept {
  std::size_t blocks = 0;
  for (size_class each = 1; each <= class_count; ++each) blocks += count_held(cache, each);
  return blocks;
}

} // namespace

void drop(quarantine*& held) noexcept {
  // A refusal leaves the pages mapped, of a process that has as many mappings as it may have.
  const bool refused = held != nullptr && !unmap_metadata(held, mapped_bytes(), os::page_bytes());
  if (refused) os::purge(held, mapped_bytes());
  held = nullptr;
}

void drop_quarantine(heap_cache& cache) noexcept {
  expects([&] { return count_held_of_all(cache) == 0; }, "a quarantine that is dropped is empty");
  drop(quarantine_of(cache));
}

} // namespace heapwise::detail
