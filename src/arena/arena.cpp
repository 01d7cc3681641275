#include <heapwise/arena.hpp>

#include <algorithm>
#include <limits>

namespace heapwise::inline v0_1 {

namespace {

constexpr std::size_t most_doubled_bytes = std::size_t{4} << 20;

/// Returns: `chunks` linked by `next`, all together, in bytes.
template <class Chunk>
std::size_t sum_bytes(const Chunk* chunks) noexcept {
  std::size_t sum = 0;
  for (; chunks != nullptr; chunks = chunks->next) sum += chunks->size_bytes;
  return sum;
}

} // namespace

void arena::enter(chunk& entered) noexcept {
  current_ = &entered;
  next_ = begin_of(entered);
  end_ = reinterpret_cast<std::uintptr_t>(&entered) + entered.size_bytes;
  hide(entered);
}

void arena::hide(chunk& hidden) const noexcept {
  marks_.hide(&hidden + 1, hidden.size_bytes - sizeof(chunk));
}

arena::chunk* arena::make_chunk(std::size_t least_bytes) noexcept {
  const std::size_t granularity = source_->granularity_bytes();
  if (least_bytes > std::numeric_limits<std::size_t>::max() - granularity) return nullptr;
  const std::size_t size_bytes = (least_bytes + granularity - 1) / granularity * granularity;
  void* const memory = source_->allocate(size_bytes, alignof(std::max_align_t));
  if (memory == nullptr) return nullptr;
  reserved_bytes_ += size_bytes;
  return std::construct_at(static_cast<chunk*>(memory), chunk{nullptr, size_bytes});
}

void arena::give_back(chunk* chunks) noexcept {
  while (chunks != nullptr) {
    chunk* const gone = chunks;
    chunks = gone->next;
    reserved_bytes_ -= gone->size_bytes;
    marks_.show(gone + 1, gone->size_bytes - sizeof(chunk));
    source_->deallocate(gone, gone->size_bytes, alignof(std::max_align_t));
  }
}

std::size_t arena::doubled_bytes() const noexcept {
  if (current_ == nullptr) return first_chunk_bytes_;
  return std::min(current_->size_bytes * 2, std::max(most_doubled_bytes, first_chunk_bytes_));
}

arena::chunk* arena::take_free(chunk*& free, std::size_t least_bytes) noexcept {
  for (chunk** link = &free; *link != nullptr; link = &(*link)->next) {
    if ((*link)->size_bytes < least_bytes) continue;
    chunk* const found = *link;
    *link = found->next;
    return found;
  }
  return nullptr;
}

arena::chunk* arena::replace_free(chunk*& free, std::size_t least_bytes) noexcept {
  const std::size_t wanted = std::max({least_bytes, sum_bytes(free), doubled_bytes()});
  if (chunk* const made = make_chunk(wanted); made != nullptr) {
    give_back(free);
    free = nullptr;
    return made;
  }
  return wanted == least_bytes ? nullptr : make_chunk(least_bytes);
}

void* arena::grow(std::size_t size_bytes, std::size_t alignment) noexcept {
  const std::size_t beside = sizeof(chunk) + alignment;
  if (size_bytes > std::numeric_limits<std::size_t>::max() - beside) return nullptr;
  const std::size_t least_bytes = size_bytes + beside;
  chunk*& free = is_empty() ? first_ : current_->next;
  chunk* chosen = take_free(free, least_bytes);
  if (chosen == nullptr) chosen = replace_free(free, least_bytes);
  if (chosen == nullptr) return nullptr;
  chosen->next = free;
  free = chosen;
  enter(*chosen);
  void* const memory = try_allocate(size_bytes, alignment);
  if (memory != nullptr) marks_.show(memory, size_bytes);
  return memory;
}

void arena::end_objects(const ender* last) noexcept {
  while (enders_ != last) {
    ender& newest = *enders_;
    enders_ = newest.older;
    newest.destroy(newest.objects, newest.count);
  }
}

arena::marker arena::mark() const noexcept {
  marker all;
  // An empty arena may replace its chunks before it allocates again.
  if (is_empty()) return all;
  all.current = current_;
  all.next = next_;
  all.last = enders_;
  return all;
}

void arena::rewind(const marker& to) noexcept {
  end_objects(to.last);
  if (to.current == nullptr) return restart();
  current_ = to.current;
  end_ = reinterpret_cast<std::uintptr_t>(current_) + current_->size_bytes;
  next_ = to.next;
  if (marks_.hide_from_user == nullptr) return;
  marks_.hide(reinterpret_cast<void*>(next_), end_ - next_);
  for (chunk* each = current_->next; each != nullptr; each = each->next) hide(*each);
}

void arena::reset() noexcept {
  end_objects(nullptr);
  restart();
}

void arena::restart() noexcept {
  current_ = nullptr;
  next_ = 1;
  end_ = 0;
  if (first_ == nullptr) return;
  enter(*first_);
  if (marks_.hide_from_user == nullptr) return;
  for (chunk* each = first_; each != nullptr; each = each->next) hide(*each);
}

void arena::release() noexcept {
  end_objects(nullptr);
  give_back(first_);
  first_ = nullptr;
  restart();
}

} // namespace heapwise::inline v0_1
