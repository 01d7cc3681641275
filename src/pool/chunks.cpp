#include <heapwise/detail/chunks.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <new>
#include <stdexcept>

#include <heapwise/detail/config.hpp>
#include <heapwise/detail/spread.hpp>

#include "os/expects.hpp"

#include "os/os.hpp"

namespace heapwise::detail::inline v0_2 {
namespace {

/// Blocks of a pool at the most, so that an index and the mark for "none" fit in 32 bits.
constexpr std::size_t index_limit = 0xFFFF'FFFEu;
constexpr std::size_t size_limit = std::numeric_limits<std::ptrdiff_t>::max();

/// Rounds up to a multiple of a power of two. Requires: value <= size_limit.
constexpr std::size_t round_up(std::size_t value, std::size_t alignment) noexcept {
  expects(value <= size_limit && std::has_single_bit(alignment), "the multiple can be told");
  return (value + alignment - 1) & ~(alignment - 1);
}

std::size_t natural_alignment(std::size_t block_size) noexcept {
  const std::size_t divides = std::size_t{1} << std::countr_zero(block_size);
  return std::min(divides, alignof(std::max_align_t));
}

std::size_t stride_of(std::size_t block_size, std::size_t alignment, std::size_t guard_bytes,
                      std::size_t min_stride_bytes) {
  if (block_size > size_limit / 2) throw std::length_error{"pool: block_size is too large"};
  std::size_t stride = std::max(block_size, min_stride_bytes);
  if (guard_bytes != 0) stride = round_up(stride, alignof(std::uint64_t)) + guard_bytes;
  return round_up(stride, alignment);
}

/// Returns: the blocks of each further chunk; 0 for growth that is not linear.
std::size_t linear_step(const pool_options& options) noexcept {
  if (options.growth != growth::linear) return 0;
  return options.growth_step == 0 ? options.block_count : options.growth_step;
}

/// Bytes of a chunk of `blocks` blocks with its record behind them, whole pages of the source.
std::size_t chunk_bytes(const geometry& shape, std::size_t blocks, std::size_t record_bytes,
                        const block_source& source) noexcept {
  return round_up(blocks * shape.stride_bytes + record_bytes + alignof(chunks),
                  source.granularity_bytes());
}

std::byte* record_place(std::byte* memory, std::size_t bytes, std::size_t record_bytes) noexcept {
  const auto end = reinterpret_cast<std::uintptr_t>(memory) + bytes - record_bytes;
  const std::size_t down = end & (alignof(chunks) - 1);
  return memory + (bytes - record_bytes - down);
}

/// If each chunk began at the start of a page, the first blocks of many pools would lie in the same
/// few sets of the nearest cache, and push each other out.
/// Requires: `spare_bytes` of the memory are not needed. Returns: the place of the first block.
std::byte* first_block(std::byte* memory, std::size_t spare_bytes, std::size_t alignment) noexcept {
  const std::size_t step = std::max<std::size_t>(cache_line_bytes, alignment);
  return memory + spread(memory, spare_bytes / step + 1) * step;
}

/// What the source gave for a chunk, and where the parts of the chunk lie in it.
struct chunk_memory {
  std::byte* start = nullptr; ///< nullptr: the source has refused
  std::size_t bytes = 0;
  std::byte* base = nullptr;   ///< of the first block
  std::byte* record = nullptr; ///< behind the last one
};

chunk_memory obtain(const geometry& shape, std::size_t blocks, std::size_t record_bytes,
                    block_source& source) {
  const std::size_t bytes = chunk_bytes(shape, blocks, record_bytes, source);
  auto* const start = static_cast<std::byte*>(source.allocate(bytes, shape.alignment));
  if (start == nullptr) return {};
  std::byte* const record = record_place(start, bytes, record_bytes);
  const std::size_t spare_bytes =
      static_cast<std::size_t>(record - start) - blocks * shape.stride_bytes;
  return {.start = start,
          .bytes = bytes,
          .base = first_block(start, spare_bytes, shape.alignment),
          .record = record};
}

/// The right to grow a pool, for one thread at a time. In a child of fork a thread of the parent
/// has no right to anything: it does not exist there. So the word is the number of the memory
/// that its threads share, and that of another one counts as none.
class growth_turn {
 public:
  explicit growth_turn(std::atomic<std::uint32_t>& word) noexcept : word_{&word} {
    const std::uint32_t mine = os::memory_number();
    std::uint32_t seen = 0;
    // Acquire: the chunk and the state of the source that the last thread left are seen.
    while (!word.compare_exchange_weak(seen, mine, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      if (seen != mine) continue;
      os::wait(word, mine, 0);
      seen = 0;
    }
  }
  growth_turn(const growth_turn&) = delete;
  growth_turn& operator=(const growth_turn&) = delete;
  ~growth_turn() {
    word_->store(0, std::memory_order_release); // pairs with the acquire of the next thread
    os::wake_one(*word_);                       // which wakes the one after it
  }

 private:
  std::atomic<std::uint32_t>* word_;
};

} // namespace

geometry geometry::of(const pool_options& options, std::size_t guard_bytes,
                      std::size_t min_stride_bytes) {
  if (options.block_size == 0) throw std::invalid_argument{"pool: block_size is 0"};
  if (options.block_count == 0) throw std::invalid_argument{"pool: block_count is 0"};
  std::size_t alignment =
      options.alignment == 0 ? natural_alignment(options.block_size) : options.alignment;
  if (!std::has_single_bit(alignment)) {
    throw std::invalid_argument{"pool: alignment is not a power of two"};
  }
  if (alignment > size_limit / 4) throw std::length_error{"pool: alignment is too large"};
  alignment = std::max(alignment, alignof(void*)); // a free block holds pointers
  const std::size_t stride =
      stride_of(options.block_size, alignment, guard_bytes, min_stride_bytes);
  if (options.block_count > index_limit || options.block_count > size_limit / 2 / stride) {
    throw std::length_error{"pool: block_size * block_count is too large"};
  }
  const bool grows = options.growth != growth::fixed;
  if (options.growth == growth::custom && options.next_blocks == nullptr) {
    throw std::invalid_argument{"pool: growth is custom without next_blocks"};
  }
  const std::size_t limit =
      options.max_block_count == 0 ? index_limit : std::min(options.max_block_count, index_limit);
  if (limit < options.block_count) {
    throw std::invalid_argument{"pool: max_block_count is below block_count"};
  }
  return {.block_size = options.block_size,
          .stride_bytes = stride,
          .alignment = alignment,
          .first_blocks = options.block_count,
          .max_blocks = grows ? limit : options.block_count,
          .next_blocks = options.growth == growth::custom ? options.next_blocks : nullptr,
          .growth_context = options.growth_context,
          .growth_step = linear_step(options),
          .divider = stride_divider{stride}};
}

std::size_t geometry::wanted_blocks(std::size_t capacity) const noexcept {
  if (next_blocks != nullptr) return next_blocks(capacity, growth_context);
  return growth_step != 0 ? growth_step : capacity;
}

chunks::chunks(const geometry& shape, block_source& source) noexcept
    : shape_{shape},
      source_{&source},
      early_{reinterpret_cast<chunk*>(this + 1)},
      early_end_{early_ + early_of(shape)} {}

std::size_t chunks::own_bytes(const geometry& shape) noexcept {
  static_assert(alignof(chunk) <= alignof(chunks));
  return sizeof(chunks) + early_of(shape) * sizeof(chunk);
}

chunks* chunks::create(const geometry& shape, block_source& source) {
  const chunk_memory memory = obtain(shape, shape.first_blocks, own_bytes(shape), source);
  if (memory.start == nullptr) throw std::bad_alloc{};
  auto* const result = ::new (memory.record) chunks{shape, source};
  ::new (result->early_) chunk{.base = memory.base,
                               .blocks = shape.first_blocks,
                               .first_index = 0,
                               .size_bytes = memory.bytes,
                               .older = nullptr,
                               .memory = memory.start};
  result->shape_.marks.hide(memory.base, shape.first_blocks * shape.stride_bytes);
  result->newest_.store(result->early_, std::memory_order_release); // pairs with newest()
  return result;
}

void chunks::destroy(chunks* self) noexcept {
  block_source& source = *self->source_;
  const std::size_t alignment = self->shape_.alignment;
  const chunk first = *self->early_;
  const chunk* piece = self->newest();
  while (piece->older != nullptr) {
    const chunk old = *piece;
    piece = old.older;
    self->shape_.marks.show(old.base, old.blocks * self->shape_.stride_bytes);
    source.deallocate(old.memory, old.size_bytes, alignment);
  }
  self->shape_.marks.show(first.base, first.blocks * self->shape_.stride_bytes);
  self->~chunks();
  source.deallocate(first.memory, first.size_bytes, alignment);
}

chunk* chunks::grow(chunk* seen) noexcept {
  const std::size_t so_far = seen->first_index + seen->blocks;
  if (so_far >= shape_.max_blocks) return nullptr;
  const growth_turn turn{growing_};
  if (chunk* const other = newest(); other != seen) return other;
  const std::size_t room = size_limit / 2 / shape_.stride_bytes;
  const std::size_t blocks =
      std::min({shape_.wanted_blocks(so_far), shape_.max_blocks - so_far, room});
  if (blocks == 0) return nullptr;
  const std::size_t least = std::max<std::size_t>(1, os::page_bytes() / shape_.stride_bytes);
  for (std::size_t fewer = blocks;; fewer = std::max(fewer / 2, least)) {
    if (chunk* const new_chunk = add(seen, fewer); new_chunk != nullptr) return new_chunk;
    if (fewer <= least) return nullptr;
  }
}

chunk* chunks::add(chunk* seen, std::size_t blocks) noexcept {
  const bool stays_early = is_early(seen) && seen + 1 != early_end_;
  const chunk_memory memory = obtain(shape_, blocks, stays_early ? 0 : sizeof(chunk), *source_);
  if (memory.start == nullptr) return nullptr;
  void* const place = stays_early ? static_cast<void*>(seen + 1) : memory.record;
  auto* const new_chunk = ::new (place) chunk{.base = memory.base,
                                              .blocks = blocks,
                                              .first_index = seen->first_index + seen->blocks,
                                              .size_bytes = memory.bytes,
                                              .older = seen,
                                              .memory = memory.start};
  shape_.marks.hide(memory.base, blocks * shape_.stride_bytes); // before another thread cuts it
  newest_.store(new_chunk,
                std::memory_order_release); // pairs with newest(): the record comes with it
  return new_chunk;
}

std::size_t chunks::index_of(const void* address) const noexcept {
  std::size_t index = 0;
  const chunk* const piece = find([&](const chunk& each) {
    index = each.index_of(address, shape_.divider);
    return index < each.blocks;
  });
  return piece == nullptr ? no_index : piece->first_index + index;
}

chunk* chunks::holding(std::size_t index) const noexcept {
  if (index >= capacity()) return nullptr;
  return find([&](const chunk& each) { return index >= each.first_index; });
}

chunk* chunks::holding_or_grow(std::size_t index) noexcept {
  chunk* const last = newest();
  return index < last->first_index + last->blocks ? holding(index) : grow(last);
}

void chunks::trim(std::size_t used) noexcept {
  chunk* piece = newest();
  while (piece->older != nullptr && piece->first_index >= used) {
    const chunk old = *piece;
    piece = old.older;
    newest_.store(piece, std::memory_order_release); // as in add; nobody else is here
    shape_.marks.show(old.base, old.blocks * shape_.stride_bytes);
    source_->deallocate(old.memory, old.size_bytes, shape_.alignment);
  }
  const std::size_t kept_bytes = (used - piece->first_index) * shape_.stride_bytes;
  std::byte* const unused = piece->base + kept_bytes;
  const std::size_t unused_bytes = piece->blocks * shape_.stride_bytes - kept_bytes;
  shape_.marks.show(unused, unused_bytes);
  source_->purge(unused, unused_bytes);
  shape_.marks.hide(unused, unused_bytes);
}

void chunks::hide_blocks() const noexcept {
  for (const chunk* piece = newest(); piece != nullptr; piece = piece->older) {
    shape_.marks.hide(piece->base, piece->blocks * shape_.stride_bytes);
  }
}

std::size_t chunks::count() const noexcept {
  std::size_t count = 0;
  for (const chunk* piece = newest(); piece != nullptr; piece = piece->older) ++count;
  return count;
}

std::size_t chunks::capacity() const noexcept {
  const chunk* const piece = newest();
  return piece->first_index + piece->blocks;
}

std::size_t chunks::reserved_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const chunk* piece = newest(); piece != nullptr; piece = piece->older) {
    bytes += piece->size_bytes;
  }
  return bytes;
}

std::size_t chunks::record_bytes() const noexcept {
  const std::size_t early = early_of(shape_);
  const std::size_t all = count();
  return own_bytes(shape_) + (all > early ? all - early : 0) * sizeof(chunk);
}

} // namespace heapwise::detail::inline v0_2
