#include "drain/calls/resolver.hpp"

#include <algorithm>

#include "trace/stamp.hpp"

namespace heapwise::bench {

void resolver::take(const call& next) { take_inlined(next); }

void resolver::take_other(call next) {
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
live_block* resolver::displace(call next, live_block* place) {
  const displaced now{*place, next.stamp, next.thread};
  const auto [before, is_first] = displaced_.try_emplace(next.address, now);
  if (!is_first) {
    lose(before->second); // the address is given out for the third time
    before->second = now;
  }
  live_.erase(place);
  return live_.place_for(next.address);
}

/// Whether the call ends a block whose address was allocated again before.
bool resolver::end_displaced(call next) {
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

/// For the call that makes the block: it may come late.
void resolver::wait_for_block(call next) {
  const auto [waiting, is_new] = waiting_.insert_or_assign(next.address, next);
  if (!is_new) ++totals_.unknown_ends; // the one before has waited in vain
}

/// If the end of the block that `next` has new_block was seen before it, the block ends now.
void resolver::end_waiting(call next, live_block new_block) {
  const auto early = waiting_.find(next.address);
  if (early == waiting_.end()) return;
  // Two stamps of one thread are never the wrong way round.
  const call late = early->second;
  const std::uint64_t slack = late.thread != next.thread ? stamp_slack : 0;
  if (late.stamp + slack <= next.stamp) return;
  waiting_.erase(early);
  end_block(late, new_block);
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
    lose(old);
    each = displaced_.erase(each);
  }
}

/// The block ended before its address was given out again, and nobody saw how.
void resolver::lose(const displaced& old) {
  ++totals_.lost_ends;
  call end{};
  end.stamp = old.replaced_at;
  end.kind = event_kind::free;
  end.thread = old.thread;
  end_block(end, old.block);
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
  rows_.set_kept(file_.keeps_next());
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
