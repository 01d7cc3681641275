#include "gc/state/attachment_table.hpp"

#include <algorithm>

#include "os/os.hpp"

namespace heapwise::gc {

namespace {

std::uintptr_t hide(const void* block) noexcept { return ~reinterpret_cast<std::uintptr_t>(block); }

} // namespace

std::size_t attachment_table::home_of(std::uintptr_t hidden) const noexcept {
  // Multiplied by 2^64 divided by the golden ratio; the upper bits depend on all of the address.
  constexpr std::uint64_t factor = 0x9E37'79B9'7F4A'7C15;
  constexpr unsigned upper_half = 32;
  return static_cast<std::size_t>((hidden * factor) >> upper_half) & (room_ - 1);
}

attachment& attachment_table::place_of(std::uintptr_t hidden) const noexcept {
  std::size_t place = home_of(hidden);
  while (places_[place].hidden != 0 && places_[place].hidden != hidden) {
    place = (place + 1) & (room_ - 1);
  }
  return places_[place];
}

bool attachment_table::grow() noexcept {
  const std::size_t least_bytes = 4 * os::page_bytes();
  const std::size_t bytes = std::max(least_bytes, 2 * room_ * sizeof(attachment));
  std::size_t room = 1;
  while (2 * room * sizeof(attachment) <= bytes) room *= 2;
  const std::size_t page = os::page_bytes();
  const std::size_t whole = (room * sizeof(attachment) + page - 1) / page * page;
  auto* const larger = static_cast<attachment*>(os::map(whole, page));
  if (larger == nullptr) return false;
  attachment_table into;
  into.places_ = larger;
  into.room_ = room;
  into.size_ = size_;
  each([&](const attachment& old) { into.place_of(old.hidden) = old; });
  if (places_ != nullptr) {
    os::unmap(places_, (room_ * sizeof(attachment) + page - 1) / page * page);
  }
  *this = into;
  return true;
}

attachment* attachment_table::find(const void* block) noexcept {
  if (size_ == 0) return nullptr;
  attachment& entry = place_of(hide(block));
  return entry.hidden == 0 ? nullptr : &entry;
}

attachment* attachment_table::find_or_add(const void* block) noexcept {
  if (attachment* const entry = find(block); entry != nullptr) return entry;
  if (2 * (size_ + 1) > room_ && !grow()) return nullptr;
  attachment& place = place_of(hide(block));
  place = {};
  place.hidden = hide(block);
  ++size_;
  return &place;
}

void attachment_table::remove(attachment* entry) noexcept {
  --size_;
  auto gap = static_cast<std::size_t>(entry - places_);
  for (std::size_t next = gap;;) {
    next = (next + 1) & (room_ - 1);
    if (places_[next].hidden == 0) break;
    // It may move into the gap if its home is not between the gap and itself.
    const std::size_t behind_home = (next - home_of(places_[next].hidden)) & (room_ - 1);
    const std::size_t behind_gap = (next - gap) & (room_ - 1);
    if (behind_home < behind_gap) continue;
    places_[gap] = places_[next];
    gap = next;
  }
  places_[gap] = {};
}

} // namespace heapwise::gc
