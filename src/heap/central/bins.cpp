#include "heap/central/bins.hpp"

#include <algorithm>
#include <ranges>
#include <span>

#include "heap/space/space.hpp"

namespace heapwise::detail {

constinit std::array<bins, most_shards> all_bins;
constinit std::array<bin_sums, most_shards> the_bin_sums;

namespace {

/// A shard helps out others if this many bytes of a class are free in its bin. With more, programs
/// of 4 to 16 threads keep up to a fifth more memory; with less, threads meet more often.
constexpr std::size_t plenty_bytes = std::size_t{64} << 10;

/// As many batches wait in a bin wherever their blocks come from. If more wait, the shard's threads
/// free blocks of other threads and do not need them: they go back where they are needed.
constexpr std::uint32_t most_of_others = 2;

std::span<bins> bins_in_use() noexcept { return std::span{all_bins}.first(shard_count()); }

template <class Action>
void each_bin(Action action) noexcept {
  for (bins& shard : bins_in_use()) {
    for (size_class class_index = 1; class_index <= class_count; ++class_index)
      action(shard[class_index], class_index);
  }
}

bool has_plenty(const bin& asked, size_class class_index) noexcept {
  const class_facts& facts = class_table[class_index];
  const std::size_t blocks = asked.free_blocks() + asked.stocked() * std::size_t{facts.batch};
  return blocks * facts.bytes >= plenty_bytes;
}

std::uint32_t refill_from_others(std::size_t own, batch*& loaded, size_class class_index,
                                 std::uint32_t most) noexcept {
  const std::size_t count = shard_count();
  for (std::size_t distance = 1; distance < count; ++distance) {
    bin& other = all_bins[(own + distance) % count][class_index];
    if (!has_plenty(other, class_index)) continue;
    if (const std::uint32_t blocks = other.refill_if_free(loaded, class_index, most, false)) {
      return blocks;
    }
  }
  return 0;
}

template <auto member>
std::size_t sum() noexcept {
  std::size_t total = 0;
  for (const bin_sums& each : std::span{the_bin_sums}.first(shard_count())) {
    total += (each.*member).load(std::memory_order_relaxed);
  }
  return total;
}

} // namespace

std::size_t free_bytes_in_spans() noexcept { return sum<&bin_sums::free_bytes>(); }

std::size_t stocked_bytes() noexcept { return sum<&bin_sums::stocked_bytes>(); }

std::uint32_t refill_batch(std::size_t own, batch*& loaded, size_class class_index,
                           std::uint32_t most) noexcept {
  if (shard_count() == 1) return the_bins[class_index].refill(loaded, class_index, most);
  bin& nearest = all_bins[own][class_index];
  if (const std::uint32_t blocks = nearest.refill_if_free(loaded, class_index, most, true)) {
    return blocks;
  }
  if (const std::uint32_t blocks = refill_from_others(own, loaded, class_index, most)) {
    return blocks;
  }
  return nearest.refill(loaded, class_index, most);
}

void flush_batch(std::size_t own, batch*& full, size_class class_index) noexcept {
  if (shard_count() == 1) return the_bins[class_index].flush(full, class_index);
  bin& nearest = all_bins[own][class_index];
  if (nearest.stocked() < most_of_others && nearest.stock(full, class_index)) return;
  // Most of its blocks come from the shard that the first one comes from.
  const span* const home = the_space.find_span(full->blocks()[0]);
  bin& origin = home == nullptr ? nearest : bin_of(*home, class_index);
  origin.flush(full, class_index);
}

void put_back_blocks(std::byte* const* blocks, std::size_t count, size_class class_index) noexcept {
  if (count == 0) return;
  const span* const home = the_space.find_span(blocks[0]);
  bin& origin = home == nullptr ? the_bins[class_index] : bin_of(*home, class_index);
  origin.put_back(blocks, count, class_index);
}

void* take_one_block(std::size_t own, size_class class_index) noexcept {
  return all_bins[own][class_index].take_one(class_index);
}

void trim_bins() noexcept {
  each_bin([](bin& each, size_class class_index) { each.trim(class_index); });
}

void drop_spares() noexcept {
  each_bin([](bin& each, size_class class_index) { each.drop_spare(class_index); });
}

bool may_look_at_all(std::size_t own) noexcept {
  const std::size_t count = shard_count();
  if (count == 1) return true;
  // Relaxed, and not one read-modify-write: a count that is lost does no harm.
  std::atomic<std::uint32_t>& flushes = the_bin_sums[own].flushes;
  const std::uint32_t so_far = flushes.load(std::memory_order_relaxed) + 1;
  flushes.store(so_far, std::memory_order_relaxed);
  return so_far % count == 0;
}

bin_figures figures_of(size_class class_index) noexcept {
  bin_figures total;
  for (bins& shard : bins_in_use()) {
    const bin_figures more = shard[class_index].figures(class_index);
    total.spans += more.spans;
    total.free_blocks += more.free_blocks;
    total.stocked_blocks += more.stocked_blocks;
    total.refills += more.refills;
    total.flushes += more.flushes;
  }
  return total;
}

bin& bin_of(const span& home, size_class class_index) noexcept {
  // Relaxed: a thread that has a block of the span has seen its shard. Another thread may read an
  // old shard, and the bin notices that.
  return all_bins[home.shard.load(std::memory_order_relaxed)][class_index];
}

void use_shards(std::size_t count) noexcept {
  const std::size_t chosen = std::min(count, possible_shards());
  if (chosen <= shard_count()) return;
  // The bins of shards from the second on know their shard before anyone uses them.
  for (std::size_t shard = shard_count(); shard < chosen; ++shard) {
    for (bin& each : all_bins[shard]) each.belong_to(static_cast<std::uint8_t>(shard));
  }
  the_shard_count.store(chosen, std::memory_order_relaxed);
}

void lock_bins() noexcept {
  for (bins& shard : bins_in_use()) {
    for (bin& each : shard) each.lock().lock();
  }
}

void unlock_bins() noexcept {
  for (bins& shard : std::views::reverse(bins_in_use())) {
    for (bin& each : std::views::reverse(shard)) each.lock().unlock();
  }
}

} // namespace heapwise::detail
