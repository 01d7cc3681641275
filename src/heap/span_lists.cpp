#include "heap/span_lists.hpp"

namespace heapwise::detail {

void span_lists::place(span& moved, std::uint32_t blocks) noexcept {
  const std::uint8_t fitting = list_of(moved, blocks);
  if (moved.fullness == fitting) return;
  remove(moved);
  moved.fullness = fitting;
  moved.most_free = most_free(fitting, blocks);
  if (fitting == unlisted) return;
  lists_[fitting].push(moved);
  occupied_ |= 1U << fitting;
}

void span_lists::remove(span& gone) noexcept {
  if (gone.fullness == unlisted) return;
  lists_[gone.fullness].remove(gone);
  if (lists_[gone.fullness].first() == nullptr) occupied_ &= ~(1U << gone.fullness);
  gone.fullness = unlisted;
  gone.most_free = 0;
}

} // namespace heapwise::detail
