// What the heap knows of itself.
#include <algorithm>
#include <string_view>

#include "heap/base/profile.hpp"
#include "heap/base/sharing.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/central/bins.hpp"
#include "heap/central/mixed.hpp"
#include "heap/checks/span_guard.hpp"
#include "heap/front/exported.hpp"
#include "heap/front/owned.hpp"
#include "heap/front/start.hpp"
#include "heap/large/large_blocks.hpp"
#include "heap/large/large_quarantine.hpp"
#include "heap/large/large_stock.hpp"
#include "heap/purge/purge.hpp"
#include "heap/space/space.hpp"
#include "options/text.hpp"

using namespace heapwise::detail;

void heapwise_malloc_statistics_get(heapwise_malloc_statistics* into) {
  *into = {};
  if (!heap_has_started()) return;
  const large_figures large = count_large();
  into->reserved_bytes = the_space.reserved_bytes();
  into->committed_bytes = the_space.committed_slices() * slice_bytes;
  into->span_bytes = the_space.used_bytes();
  into->large_bytes = large.bytes;
  into->large_blocks = large.blocks;
  into->dirty_bytes = the_space.dirty_bytes();
  into->purged_bytes = purged_bytes();
  into->threads = thread_count();
  into->heaps = owned_heap_count();
  into->metadata_bytes = the_space.metadata_bytes();
  into->cached_bytes = own_cached_bytes() + stocked_large_bytes();
  if constexpr (chosen_profile.quarantines) into->cached_bytes += held_large_bytes();
  into->spans = the_mixed_spans.count();
  into->free_bytes = the_mixed_spans.free_bytes();
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    const bin_figures figures = figures_of(class_index);
    into->spans += figures.spans;
    into->free_bytes += figures.free_blocks * class_table[class_index].bytes;
    into->cached_bytes += figures.stocked_blocks * class_table[class_index].bytes;
    into->refills += figures.refills;
    into->flushes += figures.flushes;
  }
}

namespace {

struct row {
  const char* name;
  const char* key; // in JSON: the name of the member
  std::size_t heapwise_malloc_statistics::* value;
  bool is_bytes;
};

constexpr row rows[] = {
    {"reserved addresses", "reserved_bytes", &heapwise_malloc_statistics::reserved_bytes, true},
    {"of them usable", "committed_bytes", &heapwise_malloc_statistics::committed_bytes, true},
    {"in spans", "span_bytes", &heapwise_malloc_statistics::span_bytes, true},
    {"of them in large blocks", "large_bytes", &heapwise_malloc_statistics::large_bytes, true},
    {"free, in spans", "free_bytes", &heapwise_malloc_statistics::free_bytes, true},
    {"free, in caches", "cached_bytes", &heapwise_malloc_statistics::cached_bytes, true},
    {"free, not given back yet", "dirty_bytes", &heapwise_malloc_statistics::dirty_bytes, true},
    {"given back so far", "purged_bytes", &heapwise_malloc_statistics::purged_bytes, true},
    {"the heap's own", "metadata_bytes", &heapwise_malloc_statistics::metadata_bytes, true},
    {"spans of small blocks", "spans", &heapwise_malloc_statistics::spans, false},
    {"large blocks", "large_blocks", &heapwise_malloc_statistics::large_blocks, false},
    {"threads", "threads", &heapwise_malloc_statistics::threads, false},
    {"heaps of their own", "heaps", &heapwise_malloc_statistics::heaps, false},
    {"refills", "refills", &heapwise_malloc_statistics::refills, false},
    {"flushes", "flushes", &heapwise_malloc_statistics::flushes, false},
};

void write_row(const heapwise_malloc_statistics& from, const row& the_row) noexcept {
  constexpr std::size_t name_width = 26;
  text line;
  line.add("  ").add(the_row.name);
  while (line.view().size() < name_width) line.add(" ");
  const std::size_t value = from.*the_row.value;
  if (the_row.is_bytes)
    line.add(value / 1024, 14).add(" KiB\n");
  else
    line.add(value, 14).add("\n");
  line.write();
}

void write_class(size_class class_index) noexcept {
  const bin_figures figures = figures_of(class_index);
  if (figures.spans == 0) return;
  const class_facts& facts = class_table[class_index];
  text line;
  line.add(std::size_t{facts.bytes}, 10).add(figures.spans, 10);
  line.add(figures.spans * blocks_of_span(class_index), 12).add(figures.free_blocks, 12);
  line.add(figures.stocked_blocks, 12).add("\n");
  line.write();
}

/// Text in a place of limited length; what does not fit is counted only.
class bounded_text {
 public:
  bounded_text(char* begin, std::size_t capacity) noexcept : begin_{begin}, capacity_{capacity} {}

  bounded_text& add(std::string_view more) noexcept {
    if (length_ < capacity_) {
      std::copy_n(more.data(), std::min(more.size(), capacity_ - length_), begin_ + length_);
    }
    length_ += more.size();
    return *this;
  }

  bounded_text& add(std::size_t number) noexcept { return add(text_of<20>{}.add(number).view()); }

  /// Effects: adds `"key":number`. Each but the first one has a comma before it.
  bounded_text& add_member(std::string_view key, std::size_t number,
                           bool is_first = false) noexcept {
    return add(is_first ? "\"" : ",\"").add(key).add("\":").add(number);
  }

  /// Effects: ends the text with a 0, which takes the place of the last letter if none is left.
  /// Returns: the length of the whole text.
  std::size_t end() noexcept {
    if (capacity_ > 0) begin_[std::min(length_, capacity_ - 1)] = 0;
    return length_;
  }

 private:
  char* begin_;
  std::size_t capacity_;
  std::size_t length_ = 0;
};

/// Returns: whether the class is in use, so that an object was added.
bool add_class(bounded_text& to, size_class class_index, bool is_first) noexcept {
  const bin_figures figures = figures_of(class_index);
  if (figures.spans == 0) return false;
  to.add(is_first ? "{" : ",{").add_member("block_bytes", class_table[class_index].bytes, true);
  to.add_member("spans", figures.spans);
  to.add_member("blocks", figures.spans * blocks_of_span(class_index));
  to.add_member("free_blocks", figures.free_blocks);
  to.add_member("batch_blocks", figures.stocked_blocks).add("}");
  return true;
}

void write_guards() noexcept {
  if constexpr (chosen_profile.guards_spans) {
    const span_guard_figures ends = count_span_guards();
    text line;
    line.add("  spans with a guard page   ").add(ends.hidden, 14).add("\n");
    line.add("  spans without one         ").add(ends.missing, 14).add("\n");
    line.write();
  }
}

} // namespace

size_t heapwise_malloc_statistics_json(char* text, size_t capacity) {
  heapwise_malloc_statistics now;
  heapwise_malloc_statistics_get(&now);
  bounded_text json{text, capacity};
  json.add("{\"profile\":\"").add(chosen_profile.name).add("\"");
  for (const row& each : rows) json.add_member(each.key, now.*each.value);
  json.add(",\"classes\":[");
  bool is_first = true;
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    if (add_class(json, class_index, is_first)) is_first = false;
  }
  json.add("]}");
  return json.end();
}

void heapwise_malloc_stats() {
  heapwise_malloc_statistics now;
  heapwise_malloc_statistics_get(&now);
  text line;
  line.add("heapwise malloc, profile ").add(chosen_profile.name).add("\n");
  line.write();
  for (const row& each : rows) write_row(now, each);
  write_guards();
  line.clear();
  line.add("  block size     spans      blocks        free   in batches\n");
  line.write();
  for (size_class class_index = 1; class_index <= class_count; ++class_index)
    write_class(class_index);
  if constexpr (counts_sharing) write_sharing();
  if (the_mixed_spans.count() == 0) return;
  line.clear();
  line.add("       mixed").add(the_mixed_spans.count(), 8);
  line.add(the_mixed_spans.free_bytes() / 1024, 24).add(" KiB free in holes\n");
  line.write();
}
