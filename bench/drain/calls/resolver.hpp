// Turns events with addresses, in about the order of their stamps, into rows with block numbers.
//
// The order is exact for the events of one thread. Between threads an event can come late: its
// thread was preempted between its stamp and its store. So an address may seem to be freed before
// it is allocated, or allocated while it lives. Both are put right here by the stamps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "drain/calls/call.hpp"
#include "drain/calls/live_blocks.hpp"
#include "drain/frames/rows.hpp"
#include "drain/frames/trace_writer.hpp"

namespace heapwise::bench {

struct recording_totals {
  std::uint64_t events = 0;
  std::uint64_t calls[32] = {}; ///< by event_kind
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0; ///< asked for, all blocks together
  std::uint64_t peak_live_bytes = 0;
  std::uint64_t peak_live_blocks = 0;
  std::uint64_t end_live_blocks = 0; ///< filled by resolver::totals
  std::uint64_t end_live_bytes = 0;
  std::uint64_t unknown_ends = 0; ///< of blocks that were made before the recording
  std::uint64_t late_events = 0;  ///< that came after one with a larger stamp
  std::uint64_t lost_ends = 0;    ///< an address was allocated again, and its free never seen
};

class resolver {
 public:
  /// `sites` and `stacks` are of the rings that the calls come from.
  resolver(trace_writer& file, const call_sites& sites, call_stacks& stacks, std::uint64_t start,
           unsigned time_shift)
      : file_{file}, sites_{sites}, stacks_{stacks}, start_{start}, shift_{time_shift} {}

  void take(const call& next);
  /// The same in the place of the call: each event of a thread that runs alone takes this path.
  [[gnu::always_inline]] void take_inlined(const call& next);
  /// Whether the table of live blocks may be in no cache that is near.
  [[nodiscard]] bool is_far() const noexcept { return live_.is_large(); }
  /// A call with this address will come.
  void prefetch(std::uint64_t address) const noexcept { live_.prefetch(address); }

  /// Writes what has not filled a frame.
  void flush();

  /// Events with a smaller stamp than this are not waited for any longer.
  void give_up_waiting(std::uint64_t stamp);

  [[nodiscard]] std::size_t live_count() const noexcept { return live_.count(); }
  [[nodiscard]] recording_totals totals() const noexcept {
    recording_totals result = totals_;
    result.events = events_flushed_ + rows_.count();
    result.blocks = next_block_;
    result.end_live_blocks = live_.count();
    result.end_live_bytes = live_bytes_;
    return result;
  }
  [[nodiscard]] std::uint64_t last_time() const noexcept { return time_; }

 private:
  /// A block whose address was allocated again before its end was seen.
  struct displaced {
    live_block block;
    std::uint64_t replaced_at; ///< the stamp of the new block
    std::uint32_t thread;      ///< that got the new block
  };

  [[gnu::always_inline]] void make(const call& next);
  [[gnu::always_inline]] void end(const call& next);
  [[gnu::always_inline]] void write(const call& next, std::uint64_t number, std::uint64_t more,
                                    std::uint32_t site);

  // Rare. Calls are copied only there: a reference to one would keep it out of registers.
  void take_other(call next);
  live_block* displace(call next, live_block* place);
  [[nodiscard]] bool end_displaced(call next);
  void wait_for_block(call next);
  void end_waiting(call next, live_block new_block);
  void end_block(const call& next, const live_block& block);
  void lose(const displaced& old);
  void write_live();
  void begin_frame() {
    if (!frame_begun_) [[unlikely]]
      open_frame();
  }
  void open_frame();

  trace_writer& file_;
  const call_sites& sites_;
  call_stacks& stacks_;
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
  std::uint64_t events_flushed_ = 0;                ///< in frames that were handed over
  std::uint32_t sites_stored_ = 0;                  ///< of the addresses in `sites_`
  std::unordered_map<std::uint64_t, call> waiting_; ///< ends whose blocks are not known yet
  std::unordered_map<std::uint64_t, displaced> displaced_;
  recording_totals totals_;
};

inline void resolver::take_inlined(const call& next) {
  ++totals_.calls[static_cast<unsigned>(next.kind) % 32];
  if (makes_block(next.kind)) {
    make(next);
  } else if (ends_block(next.kind)) {
    end(next);
  } else {
    take_other(next);
  }
}

inline void resolver::make(const call& next) {
  live_block* place = live_.place_for(next.address);
  if (place->address != 0) [[unlikely]]
    place = displace(next, place);
  begin_frame();
  const live_block new_block{next.address, next_block_,
                             live_block::pack(next.size, next.alignment_log), next.site,
                             next.thread};
  live_.place_new(place, new_block);
  ++next_block_;
  totals_.bytes += next.size;
  live_bytes_ += next.size;
  totals_.peak_live_blocks = std::max<std::uint64_t>(totals_.peak_live_blocks, live_.count());
  if (live_bytes_ > totals_.peak_live_bytes) {
    totals_.peak_live_bytes = live_bytes_;
    has_peak_ = true;
  }
  write(next, next.size, 0, next.site);
  if (!waiting_.empty()) [[unlikely]]
    end_waiting(next, new_block);
}

inline void resolver::end(const call& next) {
  if (!displaced_.empty() && end_displaced(next)) [[unlikely]]
    return;
  live_block* block = live_.find(next.address);
  if (block == nullptr) [[unlikely]]
    return wait_for_block(next);
  begin_frame();
  live_bytes_ -= block->size();
  const std::uint64_t age = next_block_ - block->number;
  live_.erase(block);
  write(next, age, next.size, next.site);
}

inline void resolver::write(const call& next, std::uint64_t number, std::uint64_t more,
                            std::uint32_t site) {
  const std::uint64_t now = next.stamp > start_ ? (next.stamp - start_) >> shift_ : 0;
  std::uint64_t since = now - time_;
  if (now < time_) [[unlikely]] {
    ++totals_.late_events;
    since = 0;
  }
  time_ += since;
  if (next.stack != 0) [[unlikely]]
    rows_.add_stack({rows_.count(), stacks_.take(next.stack)});
  if (rows_.add({next.kind, next.alignment_log, next.thread, site, since, number, more}))
      [[unlikely]]
    flush();
}

} // namespace heapwise::bench
