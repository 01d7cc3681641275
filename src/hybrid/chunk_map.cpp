#include <heapwise/hybrid/detail/chunk_map.hpp>

#include <new>

namespace heapwise::detail::hybrids {

block_chain sliced_chunk::carve(std::size_t index, std::size_t class_index) noexcept {
  owner[index].store(static_cast<std::uint8_t>(class_index + 1), std::memory_order_relaxed);
  const std::size_t stride = routing::block_bytes[class_index];
  std::byte* const begin = reinterpret_cast<std::byte*>(this) + index * slice_bytes;
  block_chain blocks;
  for (std::size_t at = slice_bytes; at != 0; at -= stride) blocks.push(begin + at - stride);
  return blocks;
}

chunk_map::chunk_map(block_source& source) noexcept
    : source_{&source}, current_{&first_}, first_{first_size - 1, first_words_.data(), nullptr} {}

chunk_map::~chunk_map() {
  while (chunks_ != nullptr) {
    sliced_chunk* const first = chunks_;
    chunks_ = first->next;
    source_->deallocate(first, chunk_bytes, chunk_bytes);
  }
  const table* each = current_.load(std::memory_order_relaxed);
  while (each != &first_) {
    const table old = *each;
    source_->deallocate(const_cast<table*>(each), table_bytes(old.mask + 1), alignof(table));
    each = old.older;
  }
}

sliced_chunk* chunk_map::take_sliced() noexcept {
  const std::scoped_lock lock{mutex_};
  if (spare_ != nullptr) {
    sliced_chunk* const kept = spare_;
    spare_ = kept->next;
    return kept;
  }
  void* const memory = take_chunk(chunk_kind::sliced, chunk_bytes);
  if (memory == nullptr) return nullptr;
  chunks_ = ::new (memory) sliced_chunk{.next = chunks_};
  return chunks_;
}

void* chunk_map::take(chunk_kind kind, std::size_t size_bytes) noexcept {
  const std::scoped_lock lock{mutex_};
  return take_chunk(kind, size_bytes);
}

void* chunk_map::take_chunk(chunk_kind kind, std::size_t size_bytes) noexcept {
  void* const memory = take_from_source(size_bytes, chunk_bytes);
  if (memory == nullptr) return nullptr;
  if (enter(reinterpret_cast<std::uintptr_t>(memory) | static_cast<std::uintptr_t>(kind))) {
    return memory;
  }
  return_to_source(memory, size_bytes, chunk_bytes);
  return nullptr;
}

void chunk_map::give_back(void* base, std::size_t size_bytes) noexcept {
  const std::scoped_lock lock{mutex_};
  leave(reinterpret_cast<std::uintptr_t>(base));
  return_to_source(base, size_bytes, chunk_bytes);
}

void* chunk_map::obtain(std::size_t size_bytes, std::size_t alignment) noexcept {
  const std::scoped_lock lock{mutex_};
  return take_from_source(size_bytes, alignment);
}

void chunk_map::release(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept {
  const std::scoped_lock lock{mutex_};
  return_to_source(memory, size_bytes, alignment);
}

void* chunk_map::take_from_source(std::size_t size_bytes, std::size_t alignment) noexcept {
  void* const memory = source_->allocate(size_bytes, alignment);
  if (memory != nullptr) reserved_.fetch_add(size_bytes, std::memory_order_relaxed);
  return memory;
}

void chunk_map::return_to_source(void* memory, std::size_t size_bytes,
                                 std::size_t alignment) noexcept {
  source_->deallocate(memory, size_bytes, alignment);
  reserved_.fetch_sub(size_bytes, std::memory_order_relaxed);
}

void chunk_map::reset() noexcept {
  const std::scoped_lock lock{mutex_};
  for (sliced_chunk* each = chunks_; each != nullptr; each = each->next) {
    each->carved.store(1, std::memory_order_relaxed);
    for (auto& owner : each->owner) owner.store(0, std::memory_order_relaxed);
  }
  spare_ = chunks_;
}

std::size_t chunk_map::table_bytes(std::size_t size) noexcept {
  return sizeof(table) + size * sizeof(std::atomic<std::uintptr_t>);
}

bool chunk_map::enter(std::uintptr_t word) noexcept {
  const std::size_t size = current_.load(std::memory_order_relaxed)->mask + 1;
  if (used_ >= size / 2 && !grow()) return false; // half empty: probes stay short
  put(*current_.load(std::memory_order_relaxed), word);
  return true;
}

void chunk_map::put(const table& into, std::uintptr_t word) noexcept {
  std::size_t at = place_of(word & ~kind_mask, into.mask);
  std::uintptr_t there = into.words[at].load(std::memory_order_relaxed);
  while (there != 0 && there != tombstone) {
    at = (at + 1) & into.mask;
    there = into.words[at].load(std::memory_order_relaxed);
  }
  if (there == 0) ++used_;
  into.words[at].store(word, std::memory_order_relaxed);
}

/// What went becomes a tombstone, unless nothing lies behind it that a probe might look for.
void chunk_map::leave(std::uintptr_t base) noexcept {
  const table& in = *current_.load(std::memory_order_relaxed);
  std::size_t at = place_of(base, in.mask);
  while ((in.words[at].load(std::memory_order_relaxed) & ~kind_mask) != base) {
    at = (at + 1) & in.mask;
  }
  in.words[at].store(tombstone, std::memory_order_relaxed);
  if (in.words[(at + 1) & in.mask].load(std::memory_order_relaxed) != 0) return;
  while (in.words[at].load(std::memory_order_relaxed) == tombstone) {
    in.words[at].store(0, std::memory_order_relaxed);
    --used_;
    at = (at - 1) & in.mask;
  }
}

bool chunk_map::grow() noexcept {
  table* const old = current_.load(std::memory_order_relaxed);
  const std::size_t size = 2 * (old->mask + 1);
  void* const memory = take_from_source(table_bytes(size), alignof(table));
  if (memory == nullptr) return false;
  auto* const words = reinterpret_cast<std::atomic<std::uintptr_t>*>(
      static_cast<std::byte*>(memory) + sizeof(table));
  for (std::size_t i = 0; i < size; ++i) ::new (&words[i]) std::atomic<std::uintptr_t>{0};
  auto* const new_table = ::new (memory) table{size - 1, words, old};
  used_ = 0;
  for (std::size_t i = 0; i <= old->mask; ++i) {
    const std::uintptr_t word = old->words[i].load(std::memory_order_relaxed);
    if (word != 0 && word != tombstone) put(*new_table, word);
  }
  current_.store(new_table, std::memory_order_release); // pairs with `find`: the words come with it
  return true;
}

block_chain slice_cutter::cut(std::size_t class_index) noexcept {
  if (current_ == nullptr || current_->carved.load(std::memory_order_relaxed) == slices_per_chunk) {
    current_ = chunks_->take_sliced();
    if (current_ == nullptr) return {};
  }
  return current_->carve(current_->carved.fetch_add(1, std::memory_order_relaxed), class_index);
}

} // namespace heapwise::detail::hybrids
