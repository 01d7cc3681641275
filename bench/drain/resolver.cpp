#include "drain/resolver.hpp"

#include <algorithm>

#include "trace/stamp.hpp"

namespace heapwise::bench {

void resolver::take(std::span<const call> calls) {
  if (live_.is_large()) {
    for (const call& each : calls) live_.prefetch(each.address);
  }
  for (const call& each : calls) take(each);
}

inline void resolver::take(const call& next) {
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
  const live_block made{next.address, next_block_, live_block::pack(next.size, next.alignment_log),
                        next.site, next.thread};
  live_.place_new(place, made);
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
    end_waiting(next, made);
}

inline void resolver::end(const call& next) {
  if (!displaced_.empty() && end_displaced(next)) [[unlikely]]
    return;
  live_block* block = live_.find(next.address);
  if (block == nullptr) [[unlikely]] {
    waiting_[next.address] = next;
    return;
  }
  begin_frame();
  live_bytes_ -= block->size();
  const std::uint64_t age = next_block_ - block->number;
  live_.erase(block);
  write(next, age, next.size, next.site);
}

void resolver::take_other(const call& next) {
  if (next.kind == event_kind::usable_size) {
    begin_frame();
    const live_block* block = live_.find(next.address);
    return write(next, block != nullptr ? next_block_ - block->number : 0, 0, next.site);
  }
  if (next.kind == event_kind::new_image || next.kind == event_kind::resumed) {
    live_.clear();
    live_bytes_ = 0;
    waiting_.clear();
    displaced_.clear();
  }
  begin_frame();
  write(next, 0, next.size, next.kind == event_kind::failed ? next.site : 0);
}

/// The block at `place` has not ended, as far as is known. Returns the place of the new one.
live_block* resolver::displace(const call& next, live_block* place) {
  displaced_[next.address] = {*place, next.stamp, next.thread};
  live_.erase(place);
  return live_.place_for(next.address);
}

/// Whether the call ends a block whose address was allocated again before.
bool resolver::end_displaced(const call& next) {
  const auto old = displaced_.find(next.address);
  // The thread that got the address again has written all its own calls before that.
  if (old == displaced_.end() || next.thread == old->second.thread ||
      next.stamp >= old->second.replaced_at + stamp_slack) {
    return false;
  }
  end_block(next, old->second.block);
  displaced_.erase(old);
  return true;
}

/// If the end of the block that `next` has made was seen before it, the block ends now.
void resolver::end_waiting(const call& next, const live_block& made) {
  const auto early = waiting_.find(next.address);
  if (early == waiting_.end()) return;
  // Two stamps of one thread are never the wrong way round.
  const call late = early->second;
  const std::uint64_t slack = late.thread != next.thread ? stamp_slack : 0;
  if (late.stamp + slack <= next.stamp) return;
  waiting_.erase(early);
  end_block(late, made);
  live_.erase(live_.find(next.address));
}

void resolver::end_block(const call& next, const live_block& block) {
  begin_frame();
  live_bytes_ -= block.size();
  write(next, next_block_ - block.number, next.size, next.site);
}

void resolver::give_up_waiting(std::uint64_t stamp) {
  totals_.unknown_ends +=
      std::erase_if(waiting_, [&](const auto& each) { return each.second.stamp < stamp; });
  for (auto each = displaced_.begin(); each != displaced_.end();) {
    const displaced& old = each->second;
    if (old.replaced_at >= stamp) {
      ++each;
      continue;
    }
    ++totals_.lost_ends;
    call end{};
    end.stamp = old.replaced_at;
    end.kind = event_kind::free;
    end.thread = old.thread;
    end_block(end, old.block);
    each = displaced_.erase(each);
  }
}

void resolver::open_frame() {
  frame_begun_ = true;
  frame_ = {};
  frame_.first_time = time_;
  frame_.first_block = next_block_;
  frame_.first_event = events_flushed_;
  frame_.live_blocks = live_.count();
  frame_.live_bytes = live_bytes_;
  if (file_.keeps_next() && file_.wants_live()) write_live();
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
  rows_.add({next.kind, next.alignment_log, next.thread, site, since, number, more});
  if (rows_.full()) [[unlikely]]
    flush();
}

void resolver::flush() {
  if (rows_.count() == 0) return;
  if (file_.keeps_next()) {
    const std::vector<std::uint64_t>& sites = sites_.addresses();
    rows_.set_sites(sites_stored_, {sites.begin() + sites_stored_, sites.end()});
    sites_stored_ = static_cast<std::uint32_t>(sites.size());
  }
  frame_.count = rows_.count();
  events_flushed_ += rows_.count();
  static const std::vector<unsigned char> nothing;
  file_.write_events(frame_, file_.keeps_next() ? rows_.bytes() : nothing, has_peak_);
  has_peak_ = false;
  frame_begun_ = false;
  rows_.clear();
}

void resolver::write_live() {
  std::vector<live_block> all;
  all.reserve(live_.count());
  live_.visit([&](const live_block& each) { all.push_back(each); });
  std::ranges::sort(all, {}, &live_block::number);
  rows content;
  std::uint64_t last = 0;
  for (const live_block& each : all) {
    content.add({event_kind::none, each.alignment_log(), each.thread, each.site, 0,
                 each.number - last, each.size()});
    last = each.number;
  }
  frame_header about = frame_;
  about.count = static_cast<std::uint32_t>(all.size());
  file_.write_live(about, content.bytes());
}

} // namespace heapwise::bench
