// What is in a trace: sizes, lifetimes, threads, call sites, stacks, live bytes over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "contents/number_spread.hpp"
#include "contents/traced_blocks.hpp"
#include "contents/traced_stacks.hpp"
#include "trace/event.hpp"
#include "trace/frame_rows.hpp"

namespace heapwise::bench {

/// The blocks of one call site. The names are those of SiteContents in Python, which explains them.
struct site_contents {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ended = 0;
  std::uint64_t own_thread = 0;
  std::uint64_t smallest = std::uint64_t{1} << 62;
  std::uint64_t largest = 0;
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t live_blocks = 0;
  std::int64_t peak_blocks = 0;
  std::uint64_t lifetime_sum = 0;
  std::uint64_t large_count = 0;
  std::uint64_t large_bytes = 0;
  std::uint64_t lifetimes[bucket_count] = {};
  bool is_seen = false;
};

struct site_at_peak {
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
};

class trace_contents {
 public:
  static constexpr std::size_t exact_sizes = 4096;

  explicit trace_contents(std::uint32_t version) : version_{version} {}

  /// The blocks that live where a window begins: no others live now.
  void begin_window(const frame_header& frame, const std::vector<unsigned char>& raw);

  /// The events of one frame. points: of how many rows the live bytes are noted, evenly through it;
  /// 0: of none, and not of its begin. Throws trace_error before it has counted anything of a frame
  /// whose content is not what it should be.
  void take(const frame_header& frame, const std::vector<unsigned char>& raw, std::size_t points);

  /// After the last frame: blocks that nobody freed lived until the end.
  void end();

  /// As JSON to the standard output. damage: what could not be read, in words.
  void print(const char* damage, std::uint64_t damaged_frame) const;

 private:
  struct step {
    std::uint64_t size;
    std::uint32_t site;
    std::int32_t blocks; ///< 1 or -1
  };
  struct frame_extras {
    std::uint32_t first_site = 0;
    std::vector<std::uint64_t> sites;
    std::vector<std::pair<std::uint32_t, std::vector<std::uint64_t>>> stacks; ///< by row
  };

  static frame_extras read_extras(const std::vector<unsigned char>& raw, std::size_t at);
  site_contents& site_of(std::uint64_t number);
  std::uint64_t& thread_of(std::uint64_t number);
  void add_made(std::uint64_t block, const traced_block& birth);
  void add_ended(const traced_block& birth, std::uint64_t time, std::uint64_t thread,
                 event_kind kind);
  void follow(site_contents& site, std::uint32_t number, std::uint64_t size, std::int32_t blocks);
  void keep_peak();

  std::uint32_t version_;
  traced_blocks live_;
  std::vector<site_contents> sites_;
  std::vector<std::uint64_t> events_of_thread_;
  std::uint64_t calls_[64] = {};
  std::uint64_t blocks_ = 0, bytes_ = 0, ended_ = 0, handed_over_ = 0;
  std::uint64_t resized_from_ = 0, resized_to_ = 0, duration_ = 0;
  std::uint64_t sizes_[exact_sizes + 1] = {};
  std::uint64_t size_buckets_[bucket_count] = {};
  std::uint64_t byte_buckets_[bucket_count] = {};
  std::uint64_t lifetimes_[bucket_count] = {};
  spread size_spread_, lifetime_spread_;
  std::vector<std::pair<std::uint64_t, std::int64_t>> points_;

  // The peak of all sites: `steps_` are those of the frame, of which the first `highest_` lead to
  // its highest place.
  std::vector<step> steps_;
  std::size_t highest_ = 0;
  std::int64_t live_bytes_ = 0, highest_bytes_ = 0, peak_bytes_ = 0;
  std::uint64_t highest_time_ = 0, peak_time_ = 0;
  std::vector<site_at_peak> at_peak_;

  traced_stacks stacks_;
  std::vector<std::pair<std::uint32_t, std::vector<std::uint64_t>>> addresses_;
};

} // namespace heapwise::bench
