#include "gc/state/layouts.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>

#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

constexpr std::size_t word_bytes = sizeof(std::uintptr_t);

bool is_word(std::size_t offset_bytes, std::size_t element_bytes) noexcept {
  return offset_bytes % word_bytes == 0 && offset_bytes < element_bytes;
}

/// Returns: memory that is never given back, or nullptr. Requires: the collector's lock.
void* take_room(std::size_t bytes) noexcept {
  expects_lock();
  layout_room& room = the_gc.layouts;
  if (bytes > room.bytes) {
    const std::size_t page = os::page_bytes();
    const std::size_t fresh_bytes = (bytes + page - 1) / page * page;
    auto* const fresh = static_cast<std::byte*>(os::map(fresh_bytes, page));
    if (fresh == nullptr) return nullptr;
    room = {fresh, fresh_bytes};
  }
  void* const taken = room.at;
  room.at += bytes;
  room.bytes -= bytes;
  return taken;
}

/// Returns: a layout with room for `count` numbers, nullptr with errno set.
layout* place(const layout& header, std::size_t count) noexcept {
  const std::lock_guard hold{the_gc.lock};
  void* const memory = take_room(sizeof(layout) + count * sizeof(std::size_t));
  if (memory == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  return ::new (memory) layout{header};
}

} // namespace

const layout* make_layout(std::size_t element_bytes, const std::size_t* offsets,
                          std::size_t count) noexcept {
  const bool is_one = element_bytes > 0 && element_bytes % word_bytes == 0 &&
                      count <= element_bytes / word_bytes &&
                      std::all_of(offsets, offsets + count,
                                  [=](std::size_t each) { return is_word(each, element_bytes); });
  if (!is_one) {
    errno = EINVAL;
    return nullptr;
  }
  layout* const new_layout = place({element_bytes / word_bytes, count, nullptr, nullptr}, count);
  if (new_layout == nullptr) return nullptr;
  std::transform(offsets, offsets + count, reinterpret_cast<std::size_t*>(new_layout + 1),
                 [](std::size_t each) { return each / word_bytes; });
  return new_layout;
}

const layout* make_marked_layout(heapwise_gc_mark_function* function, void* argument) noexcept {
  if (function == nullptr) {
    errno = EINVAL;
    return nullptr;
  }
  return place({1, 0, function, argument}, 0);
}

} // namespace heapwise::gc
