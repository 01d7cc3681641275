// include/heapwise/malloc.h, where it follows the letter of C and POSIX.
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "heap/base/no_memory.hpp"
#include "heap/base/running_options.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/caches.hpp"
#include "heap/checks/block_states.hpp"
#include "heap/front/counting.hpp"
#include "heap/front/exported.hpp"
#include "heap/front/general.hpp"
#include "heap/front/start.hpp"
#include "heap/purge/purge.hpp"
#include "os/os.hpp"

using namespace heapwise::detail;

__thread heapwise_thread_counters heapwise::detail::own_counters;

namespace {

void* invalid_argument() noexcept {
  errno = EINVAL;
  return nullptr;
}

} // namespace

void* heapwise_malloc(size_t size) { return allocate(size); }

void* heapwise_calloc(size_t count, size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return no_memory();
  if (!is_small(bytes)) return allocate_large(bytes, 1, true);
  // All that the program may use, as malloc_usable_size tells it, and not just what it asked for.
  const size_class class_index = class_for(bytes);
  const std::size_t usable = usable_bytes_of(class_index);
  if constexpr (chosen_profile.clears) return take_zeroed(class_index, usable);
  void* const block = take_small(class_index);
  return block == nullptr ? nullptr : std::memset(block, 0, usable);
}

void* heapwise_realloc(void* block, size_t size) {
  if (block == nullptr) return allocate(size);
  if (size == 0) {
    deallocate(block);
    return nullptr;
  }
  return resize(block, size);
}

void* heapwise_reallocarray(void* block, size_t count, size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return no_memory();
  return heapwise_realloc(block, bytes);
}

void* heapwise_malloc_at_least(size_t size, size_t* usable_size) {
  void* const block = allocate(size);
  *usable_size = block == nullptr ? 0 : usable_bytes(block);
  return block;
}

size_t heapwise_malloc_grow(void* block, size_t size) { return grow_in_place(block, size); }

void heapwise_free(void* block) { deallocate(block); }
void heapwise_free_sized(void* block, size_t size) { deallocate_sized(block, size); }
void heapwise_free_aligned_sized(void* block, size_t, size_t size) {
  deallocate_sized(block, size);
}

void* heapwise_aligned_alloc(size_t alignment, size_t size) {
  return allocate_aligned(size, alignment);
}

void* heapwise_memalign(size_t alignment, size_t size) {
  if (alignment > SIZE_MAX / 2 + 1) return invalid_argument();
  return allocate_aligned(size, std::bit_ceil(alignment));
}

int heapwise_posix_memalign(void** block, size_t alignment, size_t size) {
  if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int saved_errno = errno;
  void* const new_block = allocate_aligned(size, alignment);
  errno = saved_errno;
  if (new_block == nullptr) return ENOMEM;
  *block = new_block;
  return 0;
}

void* heapwise_valloc(size_t size) { return allocate_aligned(size, heapwise::os::page_bytes()); }

void* heapwise_pvalloc(size_t size) {
  const std::size_t page = heapwise::os::page_bytes();
  if (size > SIZE_MAX - page) return no_memory();
  const std::size_t pages = size == 0 ? 1 : (size + page - 1) / page;
  return allocate_aligned(pages * page, page);
}

size_t heapwise_malloc_usable_size(void* block) {
  return block == nullptr ? 0 : usable_bytes(block);
}

size_t heapwise_good_size(size_t size) {
  if (is_small(size)) return usable_bytes_of(class_for(size));
  const std::size_t page = heapwise::os::page_bytes();
  return size > SIZE_MAX - page ? size : (size + page - 1) / page * page;
}

void heapwise_thread_idle() {
  empty_own_cache();
  notice_free_memory();
}

size_t heapwise_malloc_purge() { return heap_has_started() ? purge_everything() : 0; }

size_t heapwise_malloc_release(size_t bytes) {
  return heap_has_started() ? purge_at_least(bytes) : 0;
}

void heapwise_malloc_set_limit(size_t bytes) { set_limit(bytes); }

void heapwise_malloc_set_soft_limit(size_t bytes) { set_soft_limit(bytes); }

void heapwise_malloc_set_purge_delay(unsigned int milliseconds) { set_purge_delay(milliseconds); }

const heapwise_thread_counters* heapwise_thread_counters_get() {
  return begin_counting() ? &own_counters : nullptr;
}
