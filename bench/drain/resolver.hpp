// Turns events with addresses, in about the order of their stamps, into rows with block numbers.
//
// The order is exact for the events of one thread. Between threads an event can come late: its
// thread was preempted between its stamp and its store. So an address may seem to be freed before
// it is allocated, or allocated while it lives. Both are put right here by the stamps.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "drain/live_blocks.hpp"
#include "drain/rows.hpp"
#include "drain/trace_writer.hpp"

namespace heapwise::bench {

struct recording_totals {
  std::uint64_t events = 0;
  std::uint64_t calls[32] = {}; ///< by event_kind
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0; ///< asked for, all blocks together
  std::uint64_t peak_live_bytes = 0;
  std::uint64_t peak_live_blocks = 0;
  std::uint64_t unknown_ends = 0; ///< of blocks that were made before the recording
  std::uint64_t late_events = 0;  ///< that came after one with a larger stamp
  std::uint64_t lost_ends = 0;    ///< an address was allocated again, and its free never seen
};

class resolver {
 public:
  resolver(trace_writer& file, std::uint64_t start, unsigned time_shift)
      : file_{file}, start_{start}, shift_{time_shift} {}

  /// `thread` is a number from 0, in the order of first events.
  void take(const event& next, std::uint32_t thread);

  /// Writes what has not filled a frame.
  void flush();

  /// Events with a smaller stamp than this are not waited for any longer.
  void give_up_waiting(std::uint64_t stamp);

  /// The addresses of all sites, by their numbers.
  [[nodiscard]] const std::vector<std::uint64_t>& sites() const noexcept { return site_order_; }

  [[nodiscard]] const recording_totals& totals() const noexcept { return totals_; }
  [[nodiscard]] std::size_t live_count() const noexcept { return live_.count(); }
  [[nodiscard]] std::uint64_t live_bytes() const noexcept { return live_bytes_; }
  [[nodiscard]] std::uint64_t last_time() const noexcept { return time_; }

 private:
  struct waiting_end {
    event end;
    std::uint32_t thread;
  };
  /// A block whose address was allocated again before its end was seen.
  struct displaced {
    live_block block;
    std::uint64_t replaced_at; ///< the stamp of the new block
    std::uint32_t thread;      ///< that got the new block
  };

  void make(const event& next, std::uint32_t thread);
  void end(const event& next, std::uint32_t thread);
  void end_block(const event& next, std::uint32_t thread, const live_block& block);
  void add_stack(const event& next, std::uint32_t thread);
  void write(const event& next, std::uint32_t thread, std::uint64_t block, std::uint64_t size,
             std::uint32_t site);
  void write_live();
  void begin_frame();
  std::uint32_t site_number(std::uint64_t address);

  trace_writer& file_;
  std::uint64_t start_;
  unsigned shift_;
  std::uint64_t time_ = 0; ///< of the last row
  rows rows_;
  frame_header frame_{};
  bool frame_begun_ = false;
  bool has_peak_ = false;
  live_blocks live_;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t next_block_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> sites_;
  /// The sites that were looked up last, by a hash: most calls come from few sites.
  struct known_site {
    std::uint64_t address = UINT64_MAX;
    std::uint32_t number = 0;
  };
  static constexpr std::size_t known_sites = 1024;
  std::vector<known_site> known_sites_ = std::vector<known_site>(known_sites);
  std::uint32_t sites_stored_ = 0; ///< of the addresses in `site_order_`
  std::vector<std::uint64_t> site_order_;
  std::unordered_map<std::uint64_t, waiting_end> waiting_;
  std::unordered_map<std::uint64_t, displaced> displaced_;
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> stacks_; ///< by thread, so far
  recording_totals totals_;
};

} // namespace heapwise::bench
