#include <heapwise/arena.hpp>

#include <algorithm>
#include <limits>

namespace heapwise::inline v0_2 {

namespace {

constexpr std::size_t most_usual_bytes = std::size_t{4} << 20;

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

std::size_t arena::rounded_bytes(std::size_t least_bytes) const noexcept {
  const std::size_t granularity = source_->granularity_bytes();
  if (least_bytes > std::numeric_limits<std::size_t>::max() - granularity) return 0;
  return (least_bytes + granularity - 1) / granularity * granularity;
}

arena::chunk* arena::make_chunk(std::size_t least_bytes) noexcept {
  const std::size_t size_bytes = rounded_bytes(least_bytes);
  if (size_bytes == 0) return nullptr;
  void* const memory = source_->allocate(size_bytes, alignof(std::max_align_t));
  if (memory == nullptr) return nullptr;
  reserved_bytes_ += size_bytes;
  return std::construct_at(static_cast<chunk*>(memory), chunk{nullptr, size_bytes});
}

void arena::give_back(chunk* chunks) noexcept {
  while (chunks != nullptr) {
    chunk* const first = chunks;
    chunks = first->next;
    reserved_bytes_ -= first->size_bytes;
    marks_.show(first + 1, first->size_bytes - sizeof(chunk));
    source_->deallocate(first, first->size_bytes, alignof(std::max_align_t));
  }
}

std::size_t arena::usual_bytes() const noexcept {
  return std::clamp(reserved_bytes_ / 4, first_chunk_bytes_,
                    std::max(most_usual_bytes, first_chunk_bytes_));
}

arena::chunk* arena::take_free(chunk*& free, std::size_t least_bytes) noexcept {
  for (chunk** link = &free; *link != nullptr; link = &(*link)->next) {
    if ((*link)->size_bytes < least_bytes) continue;
    chunk* const fit = *link;
    *link = fit->next;
    return fit;
  }
  return nullptr;
}

arena::chunk* arena::enlarge_free(chunk*& free, std::size_t least_bytes) noexcept {
  if (free == nullptr) return nullptr;
  chunk** link = &free;
  for (chunk** each = &free; *each != nullptr; each = &(*each)->next) {
    if ((*each)->size_bytes > (*link)->size_bytes) link = each;
  }
  chunk* const largest = *link;
  chunk* const next = largest->next;
  const std::size_t before_bytes = largest->size_bytes;
  const std::size_t size_bytes = rounded_bytes(least_bytes);
  if (size_bytes < before_bytes) return nullptr;
  marks_.show(largest + 1, before_bytes - sizeof(chunk));
  void* const larger =
      source_->enlarge(largest, before_bytes, size_bytes, alignof(std::max_align_t));
  if (larger == nullptr) {
    hide(*largest);
    return nullptr;
  }
  *link = next;
  reserved_bytes_ += size_bytes - before_bytes;
  return std::construct_at(static_cast<chunk*>(larger), chunk{nullptr, size_bytes});
}

arena::chunk* arena::replace_free(chunk*& free, std::size_t least_bytes) noexcept {
  const std::size_t wanted = std::max({least_bytes, sum_bytes(free), usual_bytes()});
  // Enlarged, the chunk keeps the pages that it has, and old and new need not exist side by side.
  chunk* new_chunk = enlarge_free(free, wanted);
  if (new_chunk == nullptr) new_chunk = make_chunk(wanted);
  if (new_chunk != nullptr) {
    give_back(free);
    free = nullptr;
    return new_chunk;
  }
  return wanted == least_bytes ? nullptr : make_chunk(least_bytes);
}

void* arena::grow(std::size_t size_bytes, std::size_t alignment) noexcept {
  const std::size_t beside = sizeof(chunk) + alignment;
  if (size_bytes > std::numeric_limits<std::size_t>::max() - beside) return nullptr;
  const std::size_t least_bytes = size_bytes + beside;
  const bool was_empty = is_empty();
  chunk*& free = was_empty ? first_ : last_used_->next;
  chunk* chosen = take_free(free, least_bytes);
  if (chosen == nullptr) chosen = replace_free(free, least_bytes);
  if (chosen == nullptr) return nullptr;
  chosen->next = free;
  free = chosen;
  last_used_ = chosen;
  chunk* const before = current_;
  const std::uintptr_t next = next_;
  const std::uintptr_t end = end_;
  enter(*chosen);
  void* const memory = try_allocate(size_bytes, alignment);
  if (memory != nullptr) marks_.show(memory, size_bytes);
  if (!was_empty && end - next > end_ - next_) {
    current_ = before;
    next_ = next;
    end_ = end;
  }
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
  all.last_used = last_used_;
  all.next = next_;
  all.last_ender = enders_;
  return all;
}

void arena::rewind(const marker& to) noexcept {
  end_objects(to.last_ender);
  if (to.current == nullptr) return restart();
  current_ = to.current;
  last_used_ = to.last_used;
  end_ = reinterpret_cast<std::uintptr_t>(current_) + current_->size_bytes;
  next_ = to.next;
  if (marks_.hide_from_user == nullptr) return;
  marks_.hide(reinterpret_cast<void*>(next_), end_ - next_);
  for (chunk* each = last_used_->next; each != nullptr; each = each->next) hide(*each);
}

void arena::reset() noexcept {
  end_objects(nullptr);
  restart();
}

void arena::restart() noexcept {
  current_ = nullptr;
  last_used_ = first_;
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

} // namespace heapwise::inline v0_2
