#include "gc/layouts.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>

#include "gc/state.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

constexpr std::size_t word_bytes = sizeof(std::uintptr_t);

bool is_word(std::size_t offset_bytes, std::size_t element_bytes) noexcept {
  return offset_bytes % word_bytes == 0 && offset_bytes < element_bytes;
}

/// Returns: memory that is never given back, or nullptr. Requires: the collector's lock.
void* take_room(std::size_t bytes) noexcept {
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
  const std::lock_guard hold{the_gc.lock};
  void* const memory = take_room(sizeof(layout) + count * sizeof(std::size_t));
  if (memory == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  const auto* const made = ::new (memory) layout{element_bytes / word_bytes, count};
  auto* const words = reinterpret_cast<std::size_t*>(static_cast<layout*>(memory) + 1);
  std::transform(offsets, offsets + count, words,
                 [](std::size_t each) { return each / word_bytes; });
  return made;
}

} // namespace heapwise::gc
