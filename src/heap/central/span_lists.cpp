#include "heap/central/span_lists.hpp"

#include "os/expects.hpp"

namespace heapwise::detail {

void span_lists::place(span& member, std::uint32_t blocks) noexcept {
  const std::uint8_t fitting = list_of(member, blocks);
  if (member.small.fullness == fitting) return;
  remove(member);
  member.small.fullness = fitting;
  member.small.set_most_free(most_free(fitting, blocks));
  if (fitting == unlisted) return;
  lists_[fitting].push(member);
  occupied_ |= 1U << fitting;
}

void span_lists::remove(span& member) noexcept {
  expects(member.small.fullness <= unlisted, "a span is in one of the lists, or in none");
  if (member.small.fullness == unlisted) return;
  lists_[member.small.fullness].remove(member);
  if (lists_[member.small.fullness].first() == nullptr) occupied_ &= ~(1U << member.small.fullness);
  member.small.fullness = unlisted;
  member.small.set_most_free(0);
}

} // namespace heapwise::detail
