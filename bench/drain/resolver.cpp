#include "drain/resolver.hpp"

#include <algorithm>

namespace heapwise::bench {

void resolver::take(const event& next, std::uint32_t thread) {
  const event_kind kind = next.kind();
  if (kind == event_kind::stack) return add_stack(next, thread);
  ++totals_.calls[static_cast<unsigned>(kind) % 32];
  if (makes_block(kind)) return make(next, thread);
  if (ends_block(kind)) return end(next, thread);
  if (kind == event_kind::usable_size) {
    const live_block* block = live_.find(next.address);
    return write(next, thread, block != nullptr ? next_block_ - block->number : 0, 0,
                 site_number(next.site));
  }
  if (kind == event_kind::new_image) {
    live_.clear();
    live_bytes_ = 0;
    waiting_.clear();
    displaced_.clear();
  }
  write(next, thread, 0, next.size(), kind == event_kind::failed ? site_number(next.site) : 0);
}

void resolver::make(const event& next, std::uint32_t thread) {
  if (live_block* old = live_.find(next.address); old != nullptr) {
    displaced_[next.address] = {*old, next.stamp, thread};
    live_.erase(old);
  }
  begin_frame();
  const live_block made{next.address, next_block_, next.words, site_number(next.site), thread};
  live_.insert(made);
  ++next_block_;
  ++totals_.blocks;
  totals_.bytes += made.size();
  live_bytes_ += made.size();
  totals_.peak_live_blocks = std::max<std::uint64_t>(totals_.peak_live_blocks, live_.count());
  if (live_bytes_ > totals_.peak_live_bytes) {
    totals_.peak_live_bytes = live_bytes_;
    has_peak_ = true;
  }
  write(next, thread, 0, made.size(), made.site);
  if (waiting_.empty()) return;
  if (const auto early = waiting_.find(next.address);
      early != waiting_.end() && early->second.end.stamp > next.stamp) {
    const waiting_end late = early->second;
    waiting_.erase(early);
    end_block(late.end, late.thread, made);
    live_.erase(live_.find(next.address));
  }
}

void resolver::end(const event& next, std::uint32_t thread) {
  if (!displaced_.empty()) {
    if (const auto old = displaced_.find(next.address);
        old != displaced_.end() && next.stamp < old->second.replaced_at) {
      end_block(next, thread, old->second.block);
      displaced_.erase(old);
      return;
    }
  }
  live_block* block = live_.find(next.address);
  if (block == nullptr) {
    waiting_[next.address] = {next, thread};
    return;
  }
  end_block(next, thread, *block);
  live_.erase(block);
}

void resolver::end_block(const event& next, std::uint32_t thread, const live_block& block) {
  begin_frame();
  write(next, thread, next_block_ - block.number, next.size(), site_number(next.site));
  live_bytes_ -= block.size();
}

void resolver::give_up_waiting(std::uint64_t stamp) {
  totals_.unknown_ends +=
      std::erase_if(waiting_, [&](const auto& each) { return each.second.end.stamp < stamp; });
  for (auto each = displaced_.begin(); each != displaced_.end();) {
    const displaced& old = each->second;
    if (old.replaced_at >= stamp) {
      ++each;
      continue;
    }
    ++totals_.lost_ends;
    end_block({old.replaced_at, each->first, event::pack(event_kind::free, 0), 0}, old.thread,
              old.block);
    each = displaced_.erase(each);
  }
}

void resolver::add_stack(const event& next, std::uint32_t thread) {
  std::vector<std::uint64_t>& frames = stacks_[thread];
  frames.push_back(next.address);
  if (next.size() > 1) frames.push_back(next.site);
}

void resolver::begin_frame() {
  if (frame_begun_) return;
  frame_begun_ = true;
  frame_ = {};
  frame_.first_time = time_;
  frame_.first_block = next_block_;
  frame_.first_event = totals_.events;
  frame_.live_blocks = live_.count();
  frame_.live_bytes = live_bytes_;
  if (file_.keeps_next() && file_.wants_live()) write_live();
}

void resolver::write(const event& next, std::uint32_t thread, std::uint64_t block,
                     std::uint64_t size, std::uint32_t site) {
  begin_frame();
  const std::uint64_t now = next.stamp > start_ ? (next.stamp - start_) >> shift_ : 0;
  if (now < time_) ++totals_.late_events;
  const std::uint64_t since = now > time_ ? now - time_ : 0;
  time_ += since;
  if (!stacks_.empty() && makes_block(next.kind())) {
    if (const auto found = stacks_.find(thread); found != stacks_.end()) {
      rows_.add_stack({rows_.count(), std::move(found->second)});
      stacks_.erase(found);
    }
  }
  rows_.add({next.kind(), thread, since, block, size, site,
             makes_block(next.kind()) ? static_cast<std::uint8_t>(next.alignment_log())
                                      : std::uint8_t{0}});
  ++totals_.events;
  if (rows_.full()) flush();
}

void resolver::flush() {
  if (rows_.count() == 0) return;
  if (file_.keeps_next()) {
    rows_.set_sites(sites_stored_, {site_order_.begin() + sites_stored_, site_order_.end()});
    sites_stored_ = static_cast<std::uint32_t>(site_order_.size());
  }
  frame_.count = rows_.count();
  file_.write_events(frame_, file_.keeps_next() ? rows_.bytes() : std::vector<unsigned char>{},
                     has_peak_);
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
    content.add({event_kind::none, each.thread, 0, each.number - last, each.size(), each.site,
                 each.alignment_log()});
    last = each.number;
  }
  frame_header about = frame_;
  about.count = static_cast<std::uint32_t>(all.size());
  file_.write_live(about, content.bytes());
}

std::uint32_t resolver::site_number(std::uint64_t address) {
  known_site& known = known_sites_[(address ^ address >> 10) % known_sites];
  if (known.address == address) return known.number;
  const auto [found, is_new] =
      sites_.try_emplace(address, static_cast<std::uint32_t>(site_order_.size()));
  if (is_new) site_order_.push_back(address);
  known = {address, found->second};
  return found->second;
}

} // namespace heapwise::bench
