#include <heapwise/hybrid/detail/scope_log.hpp>

#include <algorithm>
#include <cstdint>

#include "os/expects.hpp"

namespace heapwise::detail::hybrids {
namespace {

constexpr std::size_t first_capacity = 128;
constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

} // namespace

bool scope_log::begin(chunk_map& memory) noexcept {
  if (!add({nullptr, true}, memory)) return false;
  ++depth_;
  return true;
}

bool scope_log::note(void* block, chunk_map& memory) noexcept {
  expects(depth_ != 0, "a scope is open");
  if (!add({block, false}, memory)) return false;
  index(size_ - 1);
  return true;
}

bool scope_log::strike(const void* block) noexcept {
  const std::size_t place = find(block);
  if (place == nowhere) return false;
  entries_[places_[place] - 1].block = nullptr;
  ++struck_;
  forget(place);
  // What is struck out at the end needs no place: the common case, last noted, first freed.
  while (size_ != 0 && entries_[size_ - 1].block == nullptr && !entries_[size_ - 1].begins) {
    --size_;
    --struck_;
  }
  return true;
}

void* scope_log::take() noexcept {
  expects(depth_ != 0, "a scope is open");
  while (!entries_[size_ - 1].begins) {
    void* const block = entries_[size_ - 1].block;
    if (block != nullptr) {
      strike(block);
      return block;
    }
    --size_;
    --struck_;
  }
  --size_;
  --depth_;
  return nullptr;
}

void scope_log::clear(chunk_map& memory) noexcept {
  if (entries_ != nullptr) memory.release(entries_, bytes_of(capacity_), alignof(entry));
  entries_ = nullptr;
  places_ = nullptr;
  capacity_ = size_ = struck_ = depth_ = 0;
}

bool scope_log::add(entry added, chunk_map& memory) noexcept {
  if (size_ == capacity_ && !make_room(memory)) return false;
  entries_[size_++] = added;
  return true;
}

/// Squeezes out what was struck if that is half of all, else doubles.
bool scope_log::make_room(chunk_map& memory) noexcept {
  if (struck_ * 2 > capacity_) {
    std::fill_n(places_, 2 * capacity_, 0);
    squeeze(entries_);
    return true;
  }
  const std::size_t wanted = capacity_ == 0 ? first_capacity : 2 * capacity_;
  void* const room = memory.obtain(bytes_of(wanted), alignof(entry));
  if (room == nullptr) return false;
  entry* const old = entries_;
  const std::size_t old_capacity = capacity_;
  capacity_ = wanted;
  places_ = reinterpret_cast<std::size_t*>(static_cast<entry*>(room) + wanted);
  std::fill_n(places_, 2 * wanted, 0);
  squeeze(static_cast<entry*>(room));
  if (old != nullptr) memory.release(old, bytes_of(old_capacity), alignof(entry));
  return true;
}

/// Requires: the table is empty. Effects: the entries move, without those struck out.
void scope_log::squeeze(entry* into) noexcept {
  const entry* const from = entries_;
  const std::size_t count = size_;
  entries_ = into;
  size_ = 0;
  struck_ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (from[i].block == nullptr && !from[i].begins) continue;
    entries_[size_++] = from[i];
    if (from[i].block != nullptr) index(size_ - 1);
  }
}

std::size_t scope_log::place_of(const void* block) const noexcept {
  const std::uint64_t word = reinterpret_cast<std::uintptr_t>(block) * 0x9E37'79B9'7F4A'7C15u;
  return (word >> 32) & (2 * capacity_ - 1);
}

std::size_t scope_log::find(const void* block) const noexcept {
  if (capacity_ == 0) return nowhere;
  const std::size_t mask = 2 * capacity_ - 1;
  for (std::size_t at = place_of(block); places_[at] != 0; at = (at + 1) & mask) {
    if (entries_[places_[at] - 1].block == block) return at;
  }
  return nowhere;
}

void scope_log::index(std::size_t at) noexcept {
  std::size_t place = place_of(entries_[at].block);
  while (places_[place] != 0) place = (place + 1) & (2 * capacity_ - 1);
  places_[place] = at + 1;
}

/// Deletion without tombstones: what a probe would no longer reach moves up (Knuth, volume 3,
/// section 6.4, algorithm R).
void scope_log::forget(std::size_t place) noexcept {
  const std::size_t mask = 2 * capacity_ - 1;
  std::size_t hole = place;
  for (std::size_t at = (hole + 1) & mask; places_[at] != 0; at = (at + 1) & mask) {
    const std::size_t home = place_of(entries_[places_[at] - 1].block);
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    places_[hole] = places_[at];
    hole = at;
  }
  places_[hole] = 0;
}

std::size_t scope_log::bytes_of(std::size_t capacity) noexcept {
  return capacity * (sizeof(entry) + 2 * sizeof(std::size_t));
}

} // namespace heapwise::detail::hybrids
