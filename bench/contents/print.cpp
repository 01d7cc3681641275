// The contents of a trace as JSON. python/heapwise/trace/contents.py reads it.
#include <cinttypes>
#include <cstdio>

#include "contents/contents.hpp"

namespace heapwise::bench {

namespace {

/// Elements of a list with commas between them.
class json_list {
 public:
  explicit json_list(const char* name) { std::printf(",\"%s\":[", name); }
  ~json_list() { std::putchar(']'); }
  json_list(const json_list&) = delete;
  json_list& operator=(const json_list&) = delete;

  void next() {
    if (!is_first_) std::putchar(',');
    is_first_ = false;
  }

 private:
  bool is_first_ = true;
};

template <class Number>
void print_numbers(const Number* numbers, std::size_t count) {
  std::putchar('[');
  for (std::size_t i = 0; i < count; ++i) {
    std::printf(i == 0 ? "%" PRIu64 : ",%" PRIu64, static_cast<std::uint64_t>(numbers[i]));
  }
  std::putchar(']');
}

/// Without the zeros at the end.
void print_counts(const char* name, const std::uint64_t* counts, std::size_t count) {
  while (count != 0 && counts[count - 1] == 0) --count;
  std::printf(",\"%s\":", name);
  print_numbers(counts, count);
}

void print_spread(const char* name, const spread& numbers) {
  json_list list{name};
  for (std::size_t i = 0; i < numbers.places().size(); ++i) {
    const spread::place& place = numbers.places()[i];
    if (place.count == 0) continue;
    list.next();
    std::printf("[%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i, place.count, place.weight,
                place.largest);
  }
}

void print_site(std::size_t number, const site_contents& site, const site_at_peak& peak) {
  std::printf("{\"number\":%zu,\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"ended\":%" PRIu64
              ",\"own_thread\":%" PRIu64 ",\"smallest\":%" PRIu64 ",\"largest\":%" PRIu64,
              number, site.count, site.bytes, site.ended, site.own_thread, site.smallest,
              site.largest);
  std::printf(",\"live_bytes\":%" PRId64 ",\"peak_bytes\":%" PRId64 ",\"live_blocks\":%" PRId64
              ",\"peak_blocks\":%" PRId64 ",\"lifetime_sum\":%" PRIu64 ",\"large_count\":%" PRIu64
              ",\"large_bytes\":%" PRIu64 ",\"at_peak\":[%" PRId64 ",%" PRId64 "]",
              site.live_bytes, site.peak_bytes, site.live_blocks, site.peak_blocks,
              site.lifetime_sum, site.large_count, site.large_bytes, peak.blocks, peak.bytes);
  print_counts("lifetimes", site.lifetimes, bucket_count);
  std::putchar('}');
}

void print_sampled(const sampled_blocks& blocks) {
  std::printf(",[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s]", blocks.large_count,
              blocks.large_bytes, blocks.small_count, blocks.small_bytes,
              blocks.has_first ? "true" : "false");
}

} // namespace

void trace_contents::print(const char* damage, std::uint64_t damaged_frame) const {
  // The text of damage comes from here and from zstd: it has no character that JSON would escape.
  std::printf("{\"damage\":\"%s\",\"damaged_frame\":%" PRIu64, damage, damaged_frame);
  std::printf(",\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"ended\":%" PRIu64
              ",\"handed_over\":%" PRIu64 ",\"resized_from\":%" PRIu64 ",\"resized_to\":%" PRIu64
              ",\"duration\":%" PRIu64 ",\"peak_bytes\":%" PRId64 ",\"peak_time\":%" PRIu64,
              blocks_, bytes_, ended_, handed_over_, resized_from_, resized_to_, duration_,
              peak_bytes_, peak_time_);
  print_counts("calls", calls_, std::size(calls_));
  print_counts("threads", events_of_thread_.data(), events_of_thread_.size());
  print_counts("sizes", sizes_, std::size(sizes_));
  print_counts("size_buckets", size_buckets_, bucket_count);
  print_counts("byte_buckets", byte_buckets_, bucket_count);
  print_counts("lifetimes", lifetimes_, bucket_count);
  print_spread("size_spread", size_spread_);
  print_spread("lifetime_spread", lifetime_spread_);
  {
    json_list list{"live"};
    for (const auto& [time, bytes] : points_) {
      list.next();
      std::printf("[%" PRIu64 ",%" PRId64 "]", time, bytes);
    }
  }
  {
    json_list list{"sites"};
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      if (!sites_[i].is_seen) continue;
      list.next();
      print_site(i, sites_[i], i < at_peak_.size() ? at_peak_[i] : site_at_peak{});
    }
  }
  {
    json_list list{"stacks"};
    stacks_.visit(
        [&](const traced_stack& stack, const sampled_blocks& at_peak, const sampled_blocks& live) {
          list.next();
          std::putchar('[');
          print_numbers(stack.addresses.data(), stack.addresses.size());
          for (const sampled_blocks& blocks : {stack.every, at_peak, live}) print_sampled(blocks);
          std::putchar(']');
        });
  }
  {
    json_list list{"addresses"};
    for (const auto& [first, sites] : addresses_) {
      list.next();
      std::printf("[%" PRIu32 ",", first);
      print_numbers(sites.data(), sites.size());
      std::putchar(']');
    }
  }
  std::puts("}");
}

} // namespace heapwise::bench
