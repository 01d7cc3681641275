// malloc and its family, recorded and forwarded.
#include <cstddef>

#include "probe/next_malloc.hpp"
#include "recorder/calls.hpp"

using namespace heapwise::bench;

namespace {

/// A block of the time before the allocator is known. Its free must not reach the allocator.
[[gnu::noinline, gnu::cold]] void* allocate_early(std::size_t size,
                                                  std::size_t alignment = default_alignment) {
  void* block = early.allocate(size, alignment);
  session::mark(block);
  return block;
}

template <class Allocate>
[[gnu::noinline]] void* call_slowly(event_kind kind, std::size_t size, const void* site,
                                    unsigned alignment_log, const call_frame* frame,
                                    Allocate allocate) {
  if (!writer.records(frame)) return allocate();
  void* block = nullptr;
  {
    const thread_writer::outer_call outer{writer, frame};
    block = allocate();
  }
  return writer.write_block(kind, block, size, site, alignment_log);
}

/// Writes down what `allocate` returned.
template <class Allocate>
[[gnu::always_inline]] inline void* observed_call(event_kind kind, std::size_t size,
                                                  const void* site, unsigned alignment_log,
                                                  Allocate allocate) {
  if (writer.is_in_another_call(frame_here())) {
    void* block = allocate();
    // The C++ function around this call may throw, and then does not end it.
    if (block == nullptr) writer.leave_outer_call();
    return block;
  }
  if (!writer.is_ready()) [[unlikely]] {
    void* const slow = call_slowly(kind, size, site, alignment_log, frame_here(), allocate);
    keep_frame();
    return slow;
  }
  void* block = nullptr;
  {
    const thread_writer::outer_call outer{writer, frame_here()};
    block = allocate();
  }
  return writer.write_made(kind, block, size, site, alignment_log);
}

[[gnu::noinline]] void free_slowly(void* block, const void* site, const call_frame* frame) {
  if (early.owns(block)) return;
  write_free(event_kind::free, block, site, frame);
  if (auto* next = next_free.get(); next != nullptr) next(block);
}

} // namespace

// All else is hidden: a call or a variable of this library is reached without a table.
#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t size) {
  auto* next = next_malloc.get();
  if (next == nullptr) return allocate_early(size);
  return observed_call(event_kind::malloc, size, __builtin_return_address(0), 0,
                       [=] { return next(size); });
}

void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(count, size, &bytes);
  auto* next = next_calloc.get();
  if (next == nullptr) return overflows ? nullptr : allocate_early(bytes);
  return observed_call(event_kind::calloc, overflows ? SIZE_MAX : bytes,
                       __builtin_return_address(0), 0, [=] { return next(count, size); });
}

void free(void* block) {
  const void* const site = __builtin_return_address(0);
  auto* const next = next_free.known();
  if (next != nullptr && write_plain_free(event_kind::free, block, site)) [[likely]]
    return next(block);
  free_slowly(block, site, frame_here());
  keep_frame();
}

[[gnu::always_inline]] static inline void* observed_realloc(void* block, std::size_t size,
                                                            const void* site) {
  if (early.owns(block)) {
    void* new_block = move_out_of_early(block, size);
    session::mark(new_block); // it may be of the same memory
    return new_block;
  }
  auto* next = next_realloc.get();
  if (next == nullptr) return allocate_early(size);
  if (block == nullptr) {
    return observed_call(event_kind::malloc, size, site, 0, [=] { return next(block, size); });
  }
  if (!writer.records(frame_here())) return next(block, size);
  const std::uint64_t pages = counted_pages(block);
  const std::uint64_t before = stamp_now();
  void* resized = nullptr;
  {
    const thread_writer::outer_call outer{writer, frame_here()};
    resized = next(block, size);
  }
  if (resized != nullptr) {
    writer.write_stack_if_new(site);
    writer.write_end(event_kind::resize_from, block, pages, before, site);
    writer.write_block(event_kind::resize_to, resized, size, site);
  } else if (size == 0) {
    writer.write_end(event_kind::free, block, pages, before, site);
  } else {
    writer.write_block(event_kind::failed, nullptr, size, site);
  }
  return resized;
}

void* realloc(void* block, std::size_t size) {
  return observed_realloc(block, size, __builtin_return_address(0));
}

std::size_t malloc_usable_size(void* block) {
  if (early.owns(block)) return 0;
  auto* next = next_usable_size.get();
  if (next == nullptr) return 0;
  const std::size_t size = next(block);
  if (block != nullptr && writer.records(frame_here())) {
    writer.write_end(event_kind::usable_size, block, 0, stamp_now(), __builtin_return_address(0));
  }
  return size;
}
}
#pragma GCC visibility pop

#include "trace/rare_calls.hpp"
