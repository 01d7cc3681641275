#include "heap/checks/sampled_blocks.hpp"

#include "heap/base/random_numbers.hpp"
#include "heap/base/upcalls.hpp"
#include "heapwise/detail/heap_sampling.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"
#include "os/reports/unwinding.hpp"

namespace heapwise::detail {

constinit sampled_blocks the_samples;

namespace {

constexpr unsigned number_bits = 32;

std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + os::page_bytes() - 1) / os::page_bytes() * os::page_bytes();
}

/// Effects: the block is in use, allocated by the calls that the thread is in. Requires: nobody
/// else has it.
HEAPWISE_NOINLINE void write_down(sampled_block& block, std::size_t bytes) noexcept {
  const void* calls[sampled_block::most_calls];
  const std::size_t count = os::follow_calls(calls, sampled_block::most_calls);
  // Release: pairs with the fence in `read`. A reader of what follows sees that the block was
  // freed before.
  std::atomic_thread_fence(std::memory_order_release);
  block.bytes.store(bytes, std::memory_order_relaxed);
  block.call_count.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  for (std::size_t each = 0; each < count; ++each) {
    block.calls[each].store(calls[each], std::memory_order_relaxed);
  }
  // Release: pairs with the acquire in `read`. All above was written before.
  block.state.fetch_add(1, std::memory_order_release);
}

/// Effects: the block is not in use any more. Returns: false if it was not before: of two threads
/// that free it at once, one comes second.
bool close(sampled_block& block) noexcept {
  std::uint32_t seen = block.state.load(std::memory_order_relaxed);
  // Acquire: pairs with the release in write_down. Release: a reader that sees a later change sees
  // this one.
  return seen % 2 == 1 &&
         block.state.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel);
}

} // namespace

void sampled_blocks::start(std::uint64_t mean) noexcept {
  if (is_on()) return;
  const std::size_t table_bytes = whole_pages(most * sizeof(sampled_block));
  auto* const table = static_cast<sampled_block*>(os::map(table_bytes, os::page_bytes()));
  if (table == nullptr) return;
  void* const places = os::map(most * place_bytes, place_bytes);
  if (places == nullptr) {
    os::unmap(table, table_bytes);
    return;
  }
  blocks_ = table;
  mean_ = mean;
  length_ = most * place_bytes;
  begin_ = static_cast<std::byte*>(places);
  some_give_way_ = true;
}

std::uint64_t sampled_blocks::next_gap() const noexcept { return gap_of(random_bits(), mean_); }

sampled_block* sampled_blocks::pop_free() noexcept {
  // Acquire: pairs with the release in push_free. The next one was written before.
  std::uint64_t seen = free_.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(seen) != 0) {
    sampled_block& first = blocks_[static_cast<std::uint32_t>(seen) - 1];
    const std::uint64_t changes = (seen >> number_bits) + 1;
    const std::uint64_t next = first.next.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(seen, changes << number_bits | next,
                                    std::memory_order_acquire)) {
      return &first;
    }
  }
  std::uint32_t index = fresh_.load(std::memory_order_relaxed);
  do {
    if (index == most) return nullptr;
    // Relaxed: what is known of the block is published with its state.
  } while (!fresh_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  return &blocks_[index];
}

void sampled_blocks::push_free(sampled_block& block) noexcept {
  std::uint64_t seen = free_.load(std::memory_order_relaxed);
  std::uint64_t changed = 0;
  do {
    block.next.store(static_cast<std::uint32_t>(seen), std::memory_order_relaxed);
    changed = ((seen >> number_bits) + 1) << number_bits | (index_of(block) + 1);
    // Release: pairs with the acquires in pop_free.
  } while (!free_.compare_exchange_weak(seen, changed, std::memory_order_release,
                                        std::memory_order_relaxed));
}

sampled_block& sampled_blocks::around(const void* address) const noexcept {
  expects(holds(address), "the address is at a place of a sampled block");
  return blocks_[(reinterpret_cast<std::uintptr_t>(address) -
                  reinterpret_cast<std::uintptr_t>(begin_)) /
                 place_bytes];
}

void* sampled_blocks::take(std::byte* block, size_class class_index) noexcept {
  expects(is_on(), "blocks are sampled");
  sampled_block* const sampled = pop_free();
  if (sampled == nullptr) {
    count_missed();
    return nullptr;
  }
  sampled->stood_in_for = block;
  sampled->class_index = class_index;
  write_down(*sampled, class_table[class_index].bytes);
  return place_of(*sampled);
}

std::size_t sampled_blocks::bytes_of(const void* address) const noexcept {
  const sampled_block& sampled = around(address);
  // Acquire: pairs with the release in write_down.
  const bool is_used =
      sampled.state.load(std::memory_order_acquire) % 2 == 1 && sampled.class_index != no_class;
  return is_used && address == place_of(sampled) ? sampled.bytes.load(std::memory_order_relaxed)
                                                 : 0;
}

invalid sampled_blocks::fault_of(const void* address) const noexcept {
  const sampled_block& sampled = around(address);
  return address == place_of(sampled) ? invalid::freed_before : invalid::inside_block;
}

replaced_block sampled_blocks::release(std::byte* address) noexcept {
  sampled_block& sampled = around(address);
  if (bytes_of(address) == 0 || !close(sampled)) {
    invalid_free(address, fault_of(address));
    return {};
  }
  const replaced_block replaced{.block = sampled.stood_in_for, .class_index = sampled.class_index};
  // Where pages are larger than places (64 KiB), a page has a block that is in use, too.
  if (os::page_bytes() <= place_bytes) {
    os::purge(address, whole_pages(class_table[sampled.class_index].bytes));
  }
  push_free(sampled);
  return replaced;
}

sample_number sampled_blocks::take_large(std::size_t bytes, std::size_t more_bytes) noexcept {
  if (next_gap() >= more_bytes) return 0;
  sampled_block* const sampled = pop_free();
  if (sampled == nullptr) {
    count_missed();
    return 0;
  }
  sampled->class_index = no_class;
  write_down(*sampled, bytes);
  return index_of(*sampled) + 1;
}

sample_number sampled_blocks::resize_large(sample_number number, std::size_t bytes) noexcept {
  sampled_block& sampled = blocks_[number - 1];
  const std::size_t before = sampled.bytes.load(std::memory_order_relaxed);
  // A block of that length is sampled with a smaller chance.
  if (bytes < before) {
    __extension__ using wide = unsigned __int128;
    constexpr unsigned word_bits = 64;
    const auto chosen =
        static_cast<std::uint64_t>(wide{random_bits()} * chance_of(before, mean_) >> word_bits);
    if (chosen >= chance_of(bytes, mean_)) {
      release_large(number);
      return 0;
    }
  }
  sampled.bytes.store(bytes, std::memory_order_relaxed);
  return number;
}

void sampled_blocks::release_large(sample_number number) noexcept {
  sampled_block& sampled = blocks_[number - 1];
  if (close(sampled)) push_free(sampled);
}

bool sampled_blocks::read(std::uint32_t index, seen_block& into) const noexcept {
  const sampled_block& sampled = blocks_[index];
  // Acquire: pairs with the release in write_down.
  const std::uint32_t before = sampled.state.load(std::memory_order_acquire);
  if (before % 2 == 0) return false;
  into.bytes = sampled.bytes.load(std::memory_order_relaxed);
  into.call_count = sampled.call_count.load(std::memory_order_relaxed);
  for (std::uint32_t each = 0; each < into.call_count; ++each) {
    into.calls[each] = sampled.calls[each].load(std::memory_order_relaxed);
  }
  // Acquire: what was read stands before the second look at the state.
  std::atomic_thread_fence(std::memory_order_acquire);
  return sampled.state.load(std::memory_order_relaxed) == before;
}

} // namespace heapwise::detail
