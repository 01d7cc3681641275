// malloc and its family, forwarded, with a sample of their calls written down.
//
// The functions of C++ are not among them: operator new calls malloc, and an unsampled call
// costs least if nothing stands before it.
#include <cstddef>

#include "probe/next_malloc.hpp"
#include "profiler/sampler.hpp"

using namespace heapwise::bench;

namespace {

/// Its free is to take the way of the samples, so that no other free asks for such blocks.
void* allocate_early(std::size_t size, std::size_t alignment) noexcept {
  void* block = early.allocate(size, alignment);
  sampled.mark(reinterpret_cast<std::uintptr_t>(block));
  return block;
}

template <class Allocate>
[[gnu::noinline]] void* sample(event_kind kind, std::size_t size, const void* site,
                               unsigned alignment_log, Allocate allocate) {
  const bool taken = sampler.take();
  void* block = allocate();
  if (taken && block != nullptr) write_sample(kind, block, size, site, alignment_log);
  return block;
}

template <class Allocate>
[[gnu::always_inline]] inline void* observed_call(event_kind kind, std::size_t size,
                                                  const void* site, unsigned alignment_log,
                                                  Allocate allocate) {
  if (!sampler.is_due(size)) [[likely]]
    return allocate();
  return sample(kind, size, site, alignment_log, allocate);
}

/// A call that may be a sample, or while the allocator is not known yet.
[[gnu::noinline]] void* malloc_slowly(std::size_t size, const void* site) {
  auto* next = next_malloc.get();
  if (next == nullptr) {
    sampler.take_back(size);
    return allocate_early(size, default_alignment);
  }
  return sample(event_kind::malloc, size, site, 0, [=] { return next(size); });
}

[[gnu::noinline]] void* calloc_slowly(std::size_t count, std::size_t size, const void* site) {
  auto* next = next_calloc.get();
  std::size_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(count, size, &bytes);
  if (overflows) return next != nullptr ? next(count, size) : nullptr;
  if (next == nullptr) {
    sampler.take_back(bytes);
    return allocate_early(bytes, default_alignment);
  }
  return sample(event_kind::calloc, bytes, site, 0, [=] { return next(count, size); });
}

void* first_malloc(std::size_t size);
void* first_calloc(std::size_t count, std::size_t size);
void first_free(void* block);

/// Where a call goes that is not a sample. Never null, so that no call asks whether the function of
/// the allocator is known. Read without an order: it is all that is published, and a thread that
/// finds the first function does what it does once more.
constinit std::atomic<void* (*)(std::size_t)> unsampled_malloc{first_malloc};
constinit std::atomic<void* (*)(std::size_t, std::size_t)> unsampled_calloc{first_calloc};
constinit std::atomic<void (*)(void*)> unsampled_free{first_free};

void* first_malloc(std::size_t size) {
  auto* next = next_malloc.get();
  if (next == nullptr) return allocate_early(size, default_alignment);
  unsampled_malloc.store(next, std::memory_order_relaxed);
  return next(size);
}

void* first_calloc(std::size_t count, std::size_t size) {
  auto* next = next_calloc.get();
  if (next == nullptr) return allocate_early(count * size, default_alignment); // no overflow
  unsampled_calloc.store(next, std::memory_order_relaxed);
  return next(count, size);
}

void first_free(void* block) {
  auto* next = next_free.get();
  if (next == nullptr) return;
  unsampled_free.store(next, std::memory_order_relaxed);
  next(block);
}

/// A block that may be a sample, or of the time before the allocator was known.
[[gnu::noinline]] void free_sample(void* block, const void* site) {
  if (early.owns(block)) return;
  sample_end{block}.write(event_kind::free, site);
  if (auto* next = next_free.get(); next != nullptr) next(block);
}

/// A block that is or becomes a sample, or one of the time before the allocator was known.
[[gnu::noinline]] void* resize_sample(void* block, std::size_t size, bool is_due,
                                      const void* site) {
  if (early.owns(block)) return move_out_of_early(block, size);
  const bool taken = is_due && sampler.take();
  const sample_end end{block};
  void* resized = next_realloc.get()(block, size);
  if (resized == nullptr && size != 0) {
    end.take_back();
    return nullptr;
  }
  end.write(resized != nullptr ? event_kind::resize_from : event_kind::free, site);
  if (taken && resized != nullptr) {
    write_sample(block != nullptr ? event_kind::resize_to : event_kind::malloc, resized, size, site,
                 0);
  }
  return resized;
}

/// The first call of this function, or one while the allocator is not known yet.
[[gnu::noinline]] void* first_realloc(void* block, std::size_t size, const void* site) {
  if (early.owns(block)) return move_out_of_early(block, size);
  if (next_realloc.get() == nullptr) return allocate_early(size, default_alignment);
  return resize_sample(block, size, sampler.is_due(size), site);
}

[[gnu::always_inline]] inline void* observed_realloc(void* block, std::size_t size,
                                                     const void* site) {
  auto* next = next_realloc.known();
  if (next == nullptr) [[unlikely]]
    return first_realloc(block, size, site);
  const bool is_due = sampler.is_due(size);
  if (!is_due && !sampled.may_hold(block)) [[likely]]
    return next(block, size);
  return resize_sample(block, size, is_due, site);
}

} // namespace

// All else is hidden: a call or a variable of this library is reached without a table.
#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t size) {
  if (sampler.is_due(size)) [[unlikely]]
    return malloc_slowly(size, __builtin_return_address(0));
  return unsampled_malloc.load(std::memory_order_relaxed)(size);
}

void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || sampler.is_due(bytes)) [[unlikely]]
    return calloc_slowly(count, size, __builtin_return_address(0));
  return unsampled_calloc.load(std::memory_order_relaxed)(count, size);
}

void free(void* block) {
  if (sampled.may_hold(block)) [[unlikely]]
    return free_sample(block, __builtin_return_address(0));
  unsampled_free.load(std::memory_order_relaxed)(block);
}

void* realloc(void* block, std::size_t size) {
  return observed_realloc(block, size, __builtin_return_address(0));
}
}
#pragma GCC visibility pop

#include "trace/rare_calls.hpp"
