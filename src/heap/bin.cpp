#include "heap/bin.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "heap/free_pages.hpp"
#include "heap/invalid.hpp"
#include "heap/mixed.hpp"
#include "heap/mixing.hpp"
#include "heap/profile.hpp"
#include "heap/space.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit std::array<bin, class_slots> the_bins;
constinit std::atomic<std::size_t> the_free_bytes{0};
constinit std::atomic<std::size_t> the_stocked_bytes{0};

namespace {

/// What waits in batches beyond this goes back to the spans at once.
constexpr std::size_t most_stocked_bytes = std::size_t{256} << 10;
constexpr std::size_t least_most_stocked = 16;

constexpr std::size_t most_stocked(size_class of) noexcept {
  const class_facts& facts = class_table[of];
  return std::max(least_most_stocked, most_stocked_bytes / (facts.batch * facts.bytes));
}

/// With this part of a batch from holes a thread is content.
constexpr std::uint32_t enough_part = 4;

// A span that becomes a mixed one costs some 10 us, and the locks of two bins are held meanwhile.
constexpr int most_mixed_at_once = 4;

/// Effects: counts batches that came into a stock, or left it.
void count_stocked(std::ptrdiff_t batches, size_class of) noexcept {
  const class_facts& facts = class_table[of];
  the_stocked_bytes.fetch_add(
      static_cast<std::size_t>(batches) * facts.batch * std::size_t{facts.bytes},
      std::memory_order_relaxed);
}

void push(batch*& stack, batch* more) noexcept {
  more->next = stack;
  stack = more;
}

batch* pop(batch*& stack) noexcept { return std::exchange(stack, stack->next); }

/// Returns: whether this many of the first `blocks` bits are set side by side.
bool has_run(const block_map& map, std::uint32_t length, std::uint32_t blocks) noexcept {
  std::uint32_t end = 0;
  while (true) {
    const std::uint32_t first = map.find(true, end, blocks);
    if (length > blocks - first) return false;
    end = map.find(false, first, first + length);
    if (end == first + length) return true;
  }
}

/// Returns: whether all blocks lie in one slice.
bool share_slice(std::span<std::byte* const> blocks) noexcept {
  std::uintptr_t differences = 0;
  for (const std::byte* each : blocks) {
    differences |=
        reinterpret_cast<std::uintptr_t>(each) ^ reinterpret_cast<std::uintptr_t>(blocks.front());
  }
  return differences < slice_bytes;
}

} // namespace

span* bin::make_span(size_class of) noexcept {
  const class_facts& facts = class_table[of];
  bool clean = false;
  span* const made = the_space.take(facts.slices, 1, clean);
  if (made == nullptr) return nullptr;
  for (std::uint32_t each = 1; each < facts.slices; ++each) {
    made[each].slices = each;
    made[each].use.store(slice_use::inside, std::memory_order_relaxed);
  }
  made->of = static_cast<std::uint8_t>(of);
  made->fullness = span_lists::unlisted;
  made->free_blocks = facts.blocks;
  made->purged_pages = clean ? ~std::uint64_t{0} : 0;
  made->touched = 1;
  made->free_map.fill(facts.blocks);
  made->use.store(slice_use::small, std::memory_order_relaxed);
  the_space.set_class(*made, of);
  lists_.place(*made, facts.blocks);
  ++spans_;
  count_free(facts.blocks, of);
  return made;
}

span* bin::source(size_class of) noexcept {
  span* const found = lists_.fullest();
  return found != nullptr ? found : make_span(of);
}

void bin::handed_out(span& from, std::uint32_t first, std::uint32_t count, size_class of) noexcept {
  const class_facts& facts = class_table[of];
  const std::size_t begin = std::size_t{first} * facts.bytes / os::page_bytes();
  const std::size_t end = (std::size_t{first + count} * facts.bytes - 1) / os::page_bytes();
  from.purged_pages &= ~page_bits(begin, end - begin + 1);
  from.free_blocks -= count;
  count_free(-static_cast<std::ptrdiff_t>(count), of);
}

void bin::count_free(std::ptrdiff_t blocks, size_class of) noexcept {
  free_blocks_.fetch_add(static_cast<std::size_t>(blocks), std::memory_order_relaxed);
  the_free_bytes.fetch_add(static_cast<std::size_t>(blocks) * class_table[of].bytes,
                           std::memory_order_relaxed);
}

void bin::dissolve(span& empty, size_class of) noexcept {
  lists_.remove(empty);
  count_free(-static_cast<std::ptrdiff_t>(class_table[of].blocks), of);
  --spans_;
  the_space.set_class(empty, no_class);
  the_space.give(empty);
}

std::uint32_t bin::take_blocks(span& from, std::byte**& top, std::uint32_t wanted,
                               size_class of) noexcept {
  const class_facts& facts = class_table[of];
  std::byte* const begin = the_space.begin_of(from);
  if (&from == spare_) spare_ = nullptr;
  from.touched = 1;
  std::uint32_t taken = 0;
  std::uint32_t at = 0;
  while (taken < wanted) {
    const std::uint32_t first = from.free_map.find(true, at, facts.blocks);
    if (first == facts.blocks) break;
    at = from.free_map.find(false, first, std::min(facts.blocks, first + wanted - taken));
    from.free_map.clear_run(first, at - first);
    std::byte* block = begin + std::size_t{at} * facts.bytes;
    for (std::byte** const run_end = top + (at - first); top != run_end; ++top) {
      *top = block -= facts.bytes; // the lowest will come first
    }
    handed_out(from, first, at - first, of);
    taken += at - first;
  }
  lists_.place(from, facts.blocks);
  return taken;
}

std::uint32_t bin::refill(batch*& loaded, size_class of) noexcept {
  const std::uint32_t wanted = class_table[of].batch;
  const std::lock_guard hold{lock_};
  ++refills_;
  if (stock_ != nullptr) {
    push(papers_, std::exchange(loaded, pop(stock_)));
    least_stocked_ = std::min(least_stocked_, --stocked_);
    count_stocked(-1, of);
    return wanted;
  }
  std::byte** top = loaded->blocks();
  std::uint32_t taken = 0;
  while (taken < wanted) {
    span* from = lists_.fullest();
    if (from == nullptr && taken == 0) {
      taken = take_from_holes(top, of);
      if (taken == 0) from = make_span(of);
    }
    if (from == nullptr) break;
    taken += take_blocks(*from, top, wanted - taken, of);
  }
  return taken;
}

std::uint32_t bin::take_from_holes(std::byte**& top, size_class of) noexcept {
  const std::uint32_t wanted = class_table[of].batch;
  std::uint32_t taken = the_mixed_spans.take(top, wanted, of);
  for (int mixed = 0; mixed < most_mixed_at_once && taken < wanted / enough_part; ++mixed) {
    if (!sparse_enough() || !mix_sparsest(of)) break;
    const std::uint32_t more = the_mixed_spans.take(top, wanted - taken, of);
    if (more == 0) break; // the hole is not aligned, or another thread was quicker
    taken += more;
  }
  return taken;
}

bool bin::let_go_sparsest(size_class of, std::size_t hole_bytes) noexcept {
  // Locks of bins are only ever taken one by one, or all in order: this is a second one.
  const std::unique_lock hold{lock_, std::try_to_lock};
  if (!hold.owns_lock()) return false;
  span* const sparse = lists_.emptiest();
  if (sparse == nullptr) return false;
  if (sparse == spare_) { // nothing in it has to stay: its slices serve any class
    dissolve(*std::exchange(spare_, nullptr), of);
    return true;
  }
  const std::uint32_t blocks = class_table[of].blocks;
  const auto length = static_cast<std::uint32_t>((hole_bytes - 1) / class_table[of].bytes + 1);
  if (sparse->free_blocks < blocks / 2 || !has_run(sparse->free_map, length, blocks)) return false;
  lists_.remove(*sparse);
  count_free(-static_cast<std::ptrdiff_t>(sparse->free_blocks), of);
  --spans_;
  the_mixed_spans.adopt(*sparse, of);
  return true;
}

void bin::flush(batch*& full, size_class of) noexcept {
  const std::lock_guard hold{lock_};
  ++flushes_;
  batch* const paper = stocked_ == most_stocked(of) ? nullptr
                       : papers_ != nullptr         ? pop(papers_)
                                                    : new_batch(of);
  if (paper == nullptr) {
    put_back_locked(full->blocks(), class_table[of].batch, of);
    return;
  }
  push(stock_, std::exchange(full, paper));
  ++stocked_;
  count_stocked(1, of);
}

void bin::put_back(std::byte* const* blocks, std::size_t count, size_class of) noexcept {
  if (count == 0) return;
  const std::lock_guard hold{lock_};
  put_back_locked(blocks, count, of);
}

void bin::put_back_locked(std::byte* const* blocks, std::size_t count, size_class of) noexcept {
  std::byte* const* const end = blocks + count;
  if (!share_slice({blocks, end})) {
    // What is known of their spans is scattered: it is on its way before the first is needed.
    for (std::byte* const* at = blocks + 1; at != end; ++at) {
      if (!the_space.share_slice(at[-1], at[0])) the_space.prefetch(at[0], of);
    }
  }
  while (blocks != end) {
    span* const home = home_of(*blocks, of);
    blocks = home == nullptr ? blocks + 1 : put_back_to(*home, {blocks, end}, of);
  }
}

std::byte* const* bin::put_back_to(span& home, std::span<std::byte* const> blocks,
                                   size_class of) noexcept {
  const class_facts& facts = class_table[of];
  std::byte* const begin = the_space.begin_of(home);
  const std::size_t span_bytes = std::size_t{facts.blocks} * facts.bytes;
  const auto offset_of = [&](std::byte* block) { return static_cast<std::size_t>(block - begin); };
  // Blocks that come one after the other are often neighbours.
  block_map::window bits = home.free_map.read(block_at(of, offset_of(blocks.front())));
  std::uint32_t count = 0;
  std::optional<invalid> wrong;
  auto at = blocks.begin();
  for (; at != blocks.end() && offset_of(*at) < span_bytes; ++at) {
    const std::uint32_t number = block_at(of, offset_of(*at));
    if (number * std::size_t{facts.bytes} != offset_of(*at)) [[unlikely]] {
      wrong = invalid::inside_block;
      break;
    }
    if (!bits.holds(number)) {
      home.free_map.write(bits);
      bits = home.free_map.read(number);
    }
    if (bits.test(number)) [[unlikely]] {
      wrong = invalid::freed_before;
      break;
    }
    bits.set(number);
    ++count;
  }
  home.free_map.write(bits);
  came_back(home, count, of);
  if (wrong) report(*at++, *wrong);
  return std::to_address(at);
}

void bin::report(const std::byte* block, invalid why) noexcept {
  // Without the lock: a handler of SIGABRT may allocate, and standard error may be slow.
  lock_.unlock();
  invalid_free(block, why);
  lock_.lock();
}

span* bin::home_of(std::byte* block, size_class of) noexcept {
  span* const record = the_space.find_span(block);
  if (record == nullptr) { // freed with a size, so that nobody has looked at the address before
    report(block, invalid::foreign);
    return nullptr;
  }
  span& found = *record;
  // Acquire: pairs with the release in mixed_spans::adopt. What it wrote about the span is seen.
  const slice_use use = found.use.load(std::memory_order_acquire);
  if (use == slice_use::small && found.of == of) {
    const class_facts& facts = class_table[of];
    const auto offset = static_cast<std::size_t>(block - the_space.begin_of(found));
    if (offset < std::size_t{facts.blocks} * facts.bytes) return &found;
    report(block, invalid::inside_block);
  } else if (use == slice_use::mixed) {
    lock_.unlock(); // it may have to report, too
    the_mixed_spans.put_back({&block, 1});
    lock_.lock();
  } else {
    report(block, invalid::freed_before);
  }
  return nullptr;
}

void bin::came_back(span& home, std::uint32_t count, size_class of) noexcept {
  if (count == 0) return; // nothing but invalid frees
  const class_facts& facts = class_table[of];
  home.free_blocks += count;
  home.touched = 1;
  count_free(count, of);
  lists_.place(home, facts.blocks);
  if (home.free_blocks < facts.blocks) return;
  if (spare_ == nullptr) {
    spare_ = &home;
  } else {
    dissolve(home, of);
  }
}

void* bin::take_one(size_class of) noexcept {
  std::byte* block = nullptr;
  std::byte** top = &block;
  const std::lock_guard hold{lock_};
  if (lists_.fullest() == nullptr && stock_ != nullptr) { // before a new span is made
    batch* const whole = pop(stock_);
    least_stocked_ = std::min(least_stocked_, --stocked_);
    count_stocked(-1, of);
    put_back_locked(whole->blocks(), class_table[of].batch, of);
    delete_batch(whole, of);
  }
  if (span* const from = source(of); from != nullptr) {
    take_blocks(*from, top, 1, of);
  } else if (the_mixed_spans.take(top, 1, of) == 0) { // holes do not need a new span
    return nullptr;
  }
  return block;
}

void bin::trim(size_class of) noexcept {
  std::unique_lock hold{lock_};
  // One at a time: no thread waits for more than one.
  for (std::uint32_t unneeded = least_stocked_; unneeded > 0 && stock_ != nullptr; --unneeded) {
    batch* const whole = pop(stock_);
    --stocked_;
    count_stocked(-1, of);
    hold.unlock();
    put_back(whole->blocks(), class_table[of].batch, of);
    delete_batch(whole, of);
    hold.lock();
  }
  while (papers_ != nullptr) delete_batch(pop(papers_), of);
  least_stocked_ = stocked_;
  if (spare_ != nullptr && spare_->touched == 0) {
    dissolve(*std::exchange(spare_, nullptr), of);
  }
}

void bin::drop_spare(size_class of) noexcept {
  const std::lock_guard hold{lock_};
  if (spare_ != nullptr) dissolve(*std::exchange(spare_, nullptr), of);
}

std::size_t bin::purge_pages(span& of_span, size_class of, bool even_if_touched) noexcept {
  const class_facts& facts = class_table[of];
  const std::lock_guard hold{lock_};
  // The slice may have gone to another class meanwhile, under whose lock its record is written now.
  // Relaxed: this class is written and taken away under this lock only, so it is either the bin's
  // span, and all of its record is seen, or another class is read.
  if (the_heap_map.class_of_slice(the_space.index_of(of_span)).load(std::memory_order_relaxed) !=
      of) {
    return 0;
  }
  if (of_span.use.load(std::memory_order_relaxed) != slice_use::small) return 0; // an inner slice
  if (of_span.touched != 0 && !even_if_touched) {
    of_span.touched = 0;
    return 0;
  }
  const std::size_t page = os::page_bytes();
  if (of_span.free_blocks * std::size_t{facts.bytes} < page) return 0;
  const std::size_t pages = facts.slices * slice_bytes / page;
  return purge_free_pages(of_span, the_space.begin_of(of_span), pages, [&](std::size_t number) {
    const std::uint32_t first = block_at(of, number * page);
    const std::uint32_t end = std::min(facts.blocks, block_at(of, (number + 1) * page - 1) + 1);
    return first < end && of_span.free_map.find(false, first, end) == end;
  });
}

bin_figures bin::figures(size_class of) noexcept {
  const std::lock_guard hold{lock_};
  return {.spans = spans_,
          .free_blocks = free_blocks(),
          .stocked_blocks = std::size_t{stocked_} * class_table[of].batch,
          .refills = refills_,
          .flushes = flushes_};
}

} // namespace heapwise::detail
