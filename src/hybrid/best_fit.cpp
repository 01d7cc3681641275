#include <heapwise/hybrid/detail/best_fit.hpp>

#include <algorithm>
#include <bit>
#include <bitset>
#include <limits>
#include <mutex>
#include <new>

#include "hybrid/size_tree.hpp"
#include "os/expects.hpp"

namespace heapwise::detail::hybrids {
namespace {

constexpr std::size_t granule = best_fit::granule_bytes;
constexpr std::size_t granules_per_chunk = chunk_bytes / granule;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
  return (value + multiple - 1) & ~(multiple - 1);
}

} // namespace

/// In front of a region's pieces. `out` has a bit for each block that is out, by the granule that
/// it starts at: an address that is not a block is recognised without trusting a byte there.
struct best_fit::region {
  region* next;
  region* previous;
  std::bitset<granules_per_chunk> out;

  /// The first tag lies so that the block behind it is aligned to a granule.
  static constexpr std::size_t first_tag() noexcept;
  [[nodiscard]] std::byte* base() noexcept { return reinterpret_cast<std::byte*>(this); }
  [[nodiscard]] piece* first() noexcept;
  [[nodiscard]] std::size_t granule_of(const void* block) noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(block) - base()) / granule;
  }
};

constexpr std::size_t best_fit::region::first_tag() noexcept {
  return round_up(sizeof(region) + piece::tag_bytes, granule) - piece::tag_bytes;
}

best_fit::piece* best_fit::region::first() noexcept {
  return reinterpret_cast<piece*>(base() + first_tag());
}

/// In front of a block that is a chunk of its own.
struct best_fit::large {
  large* next;
  large* previous;
  std::size_t size_bytes; ///< of all
  void* block;
};

namespace {

/// All pieces of a region together; the last tag is a sentinel that is never free.
constexpr std::size_t room_bytes =
    chunk_bytes -
    round_up(granules_per_chunk / 8 + 2 * sizeof(void*) + best_fit::piece::tag_bytes, granule);
constexpr std::size_t size_limit = std::numeric_limits<std::ptrdiff_t>::max();

template <class Node>
void link_front(Node*& first, Node* added) noexcept {
  added->next = first;
  added->previous = nullptr;
  if (first != nullptr) first->previous = added;
  first = added;
}

template <class Node>
void unlink(Node*& first, Node* node) noexcept {
  (node->previous != nullptr ? node->previous->next : first) = node->next;
  if (node->next != nullptr) node->next->previous = node->previous;
}

} // namespace

void* best_fit::allocate(std::size_t size, std::size_t alignment) noexcept {
  expects(std::has_single_bit(alignment), "an alignment is a power of two");
  if (alignment > largest_alignment || size > size_limit) return nullptr;
  const std::size_t bytes = round_up(std::max<std::size_t>(size, 1) + piece::tag_bytes, granule);
  const std::scoped_lock lock{mutex_};
  if (bytes + alignment > chunk_bytes / 2) return allocate_large(size, alignment);
  piece* const taken = take_piece(bytes, alignment);
  if (taken == nullptr) return nullptr;
  auto* const in = static_cast<region*>(static_cast<void*>(chunks_->find(taken).base));
  if (in == empty_) empty_ = nullptr;
  in->out.set(in->granule_of(taken->block()));
  return taken->block();
}

best_fit::piece* best_fit::take_piece(std::size_t size_bytes, std::size_t alignment) noexcept {
  const std::size_t sought = alignment > granule ? size_bytes + alignment : size_bytes;
  piece* fit = best_of(root_, sought);
  if (fit == nullptr) {
    if (!add_region()) return nullptr;
    fit = best_of(root_, sought);
  }
  remove(root_, fit);
  if (alignment > granule) fit = trim_front(fit, alignment);
  trim_back(fit, size_bytes);
  return fit;
}

/// What lies in front of the first aligned block becomes a free piece; it is whole granules.
best_fit::piece* best_fit::trim_front(piece* from, std::size_t alignment) noexcept {
  const auto block = reinterpret_cast<std::uintptr_t>(from->block());
  const std::size_t surplus = round_up(block, alignment) - block;
  if (surplus == 0) return from;
  piece* const aligned = from->at(surplus);
  aligned->before_bytes = surplus;
  aligned->size_bytes = from->size_bytes - surplus;
  aligned->after()->before_bytes = aligned->size_bytes;
  from->size_bytes = surplus;
  insert(root_, from);
  return aligned;
}

void best_fit::trim_back(piece* from, std::size_t size_bytes) noexcept {
  const std::size_t surplus = from->size_bytes - size_bytes;
  if (surplus == 0) return;
  from->size_bytes = size_bytes;
  piece* const rest = from->after();
  rest->before_bytes = size_bytes;
  rest->size_bytes = surplus;
  rest->after()->before_bytes = surplus;
  insert(root_, rest);
}

bool best_fit::add_region() noexcept {
  void* const memory = chunks_->take(chunk_kind::region, chunk_bytes);
  if (memory == nullptr) return false;
  auto* const new_region = ::new (memory) region{};
  static_assert(region::first_tag() + room_bytes + piece::tag_bytes == chunk_bytes);
  link_front(regions_, new_region);
  piece* const whole = new_region->first();
  whole->before_bytes = 0;
  whole->size_bytes = room_bytes;
  whole->after()->before_bytes = room_bytes;
  whole->after()->size_bytes = 0;
  insert(root_, whole);
  return true;
}

bool best_fit::deallocate(void* block) noexcept {
  const std::scoped_lock lock{mutex_};
  if (large* const whole = live_large(block); whole != nullptr) {
    unlink(large_, whole);
    chunks_->give_back(whole, whole->size_bytes);
    return true;
  }
  piece* const freed = live_piece(block);
  if (freed == nullptr) return false;
  free_piece(freed);
  return true;
}

void best_fit::free_piece(piece* freed) noexcept {
  auto* const in = static_cast<region*>(static_cast<void*>(chunks_->find(freed).base));
  in->out.reset(in->granule_of(freed->block()));
  piece* const after = freed->after();
  if (after->size_bytes != 0 && !in->out.test(in->granule_of(after->block()))) {
    remove(root_, after);
    freed->size_bytes += after->size_bytes;
  }
  if (freed->before_bytes != 0 && !in->out.test(in->granule_of(freed->before()->block()))) {
    piece* const before = freed->before();
    remove(root_, before);
    before->size_bytes += freed->size_bytes;
    freed = before;
  }
  freed->after()->before_bytes = freed->size_bytes;
  insert(root_, freed);
  if (freed->size_bytes == room_bytes) drop_region(in);
}

/// One empty region stays, so that a program at the edge does not run to the source at each step.
void best_fit::drop_region(region* empty_region) noexcept {
  if (empty_ == nullptr) {
    empty_ = empty_region;
    return;
  }
  remove(root_, empty_region->first());
  unlink(regions_, empty_region);
  chunks_->give_back(empty_region, chunk_bytes);
}

void* best_fit::allocate_large(std::size_t size, std::size_t alignment) noexcept {
  const std::size_t front = std::max(round_up(sizeof(large), granule), alignment);
  if (size > size_limit - front - chunk_bytes) return nullptr;
  const std::size_t size_bytes = round_up(front + size, slice_bytes);
  void* const memory = chunks_->take(chunk_kind::large, size_bytes);
  if (memory == nullptr) return nullptr;
  auto* const new_large =
      ::new (memory) large{nullptr, nullptr, size_bytes, static_cast<std::byte*>(memory) + front};
  link_front(large_, new_large);
  return new_large->block;
}

best_fit::piece* best_fit::live_piece(const void* block) const noexcept {
  const chunk_map::found chunk = chunks_->find(block);
  if (chunk.kind != chunk_kind::region) return nullptr;
  auto* const in = reinterpret_cast<region*>(chunk.base);
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(block) - chunk.base);
  if (offset % granule != 0 || !in->out.test(offset / granule)) return nullptr;
  return reinterpret_cast<piece*>(chunk.base + offset - piece::tag_bytes);
}

best_fit::large* best_fit::live_large(const void* block) const noexcept {
  const chunk_map::found chunk = chunks_->find(block);
  if (chunk.kind != chunk_kind::large) return nullptr;
  auto* const whole = reinterpret_cast<large*>(chunk.base);
  return whole->block == block ? whole : nullptr;
}

std::size_t best_fit::usable_bytes(const void* block) noexcept {
  const std::scoped_lock lock{mutex_};
  if (const large* const whole = live_large(block); whole != nullptr) {
    return whole->size_bytes - static_cast<std::size_t>(static_cast<const std::byte*>(block) -
                                                        reinterpret_cast<const std::byte*>(whole));
  }
  const piece* const the_piece = live_piece(block);
  return the_piece == nullptr ? 0 : the_piece->size_bytes - piece::tag_bytes;
}

void best_fit::reset() noexcept {
  while (large_ != nullptr) {
    large* const first = large_;
    large_ = first->next;
    chunks_->give_back(first, first->size_bytes);
  }
  while (regions_ != nullptr) {
    region* const first = regions_;
    regions_ = first->next;
    chunks_->give_back(first, chunk_bytes);
  }
  root_ = nullptr;
  empty_ = nullptr;
}

} // namespace heapwise::detail::hybrids
