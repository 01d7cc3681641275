#include <heapwise/arena.hpp>

#include <algorithm>
#include <limits>

namespace heapwise {

namespace {

constexpr std::size_t most_chunk_bytes = std::size_t{4} << 20; // of those that double

} // namespace

void arena::enter(chunk& entered) noexcept {
  current_ = &entered;
  next_ = reinterpret_cast<std::uintptr_t>(&entered + 1);
  end_ = reinterpret_cast<std::uintptr_t>(&entered) + entered.size_bytes;
}

arena::chunk* arena::make_chunk(std::size_t least_bytes) noexcept {
  const std::size_t doubled = current_ == nullptr ? first_chunk_bytes_ : current_->size_bytes * 2;
  const std::size_t wanted = std::max(least_bytes, std::min(doubled, most_chunk_bytes));
  const std::size_t granularity = source_->granularity_bytes();
  if (wanted > std::numeric_limits<std::size_t>::max() - granularity) return nullptr;
  const std::size_t size_bytes = (wanted + granularity - 1) / granularity * granularity;
  void* const memory = source_->allocate(size_bytes, alignof(std::max_align_t));
  if (memory == nullptr) return nullptr;
  reserved_bytes_ += size_bytes;
  return std::construct_at(static_cast<chunk*>(memory), chunk{nullptr, size_bytes});
}

void* arena::grow(std::size_t size_bytes, std::size_t alignment) noexcept {
  const std::size_t beside = sizeof(chunk) + alignment;
  if (size_bytes > std::numeric_limits<std::size_t>::max() - beside) return nullptr;
  const std::size_t least_bytes = size_bytes + beside;
  // Of what is left from before a reset, the next chunk is used if it is large enough; a new one
  // goes in front of it otherwise.
  chunk*& behind = current_ == nullptr ? first_ : current_->next;
  if (behind == nullptr || behind->size_bytes < least_bytes) {
    chunk* const made = make_chunk(least_bytes);
    if (made == nullptr) return nullptr;
    made->next = behind;
    behind = made;
  }
  enter(*behind);
  return try_allocate(size_bytes, alignment);
}

void arena::reset() noexcept {
  current_ = nullptr;
  next_ = 1;
  end_ = 0;
  if (first_ != nullptr) enter(*first_);
}

void arena::release() noexcept {
  while (first_ != nullptr) {
    chunk* const gone = first_;
    first_ = gone->next;
    source_->deallocate(gone, gone->size_bytes, alignof(std::max_align_t));
  }
  reserved_bytes_ = 0;
  reset();
}

} // namespace heapwise
