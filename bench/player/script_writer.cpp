#include "player/script_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "player/script.hpp"

namespace heapwise::bench {

namespace {

/// Gaps that are shorter are computing of the program, which a replay does not do.
constexpr double least_sleep_ns = 1e6;

/// What the first reading finds out of each block.
struct future {
  std::vector<bool> handed_over;
  std::unordered_map<std::uint64_t, std::uint32_t> pages; ///< of large blocks
};

future read_future(trace_reader& trace) {
  future found;
  std::unordered_map<std::uint64_t, std::uint32_t> makers;
  trace.each([&](const traced_event& next) {
    if (makes_block(next.kind)) {
      makers[next.block] = next.thread;
      found.handed_over.push_back(false);
    } else if (ends_block(next.kind)) {
      const auto maker = makers.find(next.block);
      if (maker == makers.end()) throw trace_error{"it ends a block twice"};
      found.handed_over[next.block] = maker->second != next.thread;
      if (next.size != 0) {
        found.pages[next.block] =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(next.size, UINT32_MAX - 1));
      }
      makers.erase(maker);
    }
  });
  return found;
}

/// The steps of one thread, and its free slots.
struct part {
  std::vector<step> steps;
  std::vector<std::uint32_t> free_slots;
  std::uint32_t slots = 0;

  std::uint32_t take_slot() {
    if (free_slots.empty()) return slots++;
    const std::uint32_t slot = free_slots.back();
    free_slots.pop_back();
    return slot;
  }
};

constexpr unsigned no_pool = UINT_MAX;

struct place {
  std::uint32_t slot;
  bool shared;
  std::uint64_t size;
  std::uint8_t alignment_log;
  unsigned pool = no_pool;
};

class maker {
 public:
  maker(const future& known, double ns_a_unit, const std::map<std::uint32_t, pooled_site>& pooled)
      : known_{known}, ns_a_unit_{ns_a_unit}, pooled_{pooled} {
    unsigned number = 0;
    for (const auto& [site, about] : pooled_) pool_of_[site] = number++;
    totals_.pooled_sites = pooled_.size();
  }

  void take(const traced_event& next);
  void finish() { pass_turn(); }
  void write(const std::string& path);

 private:
  part& part_of(std::uint32_t thread);
  void switch_to(std::uint32_t thread, std::uint64_t time);
  void pass_turn();
  void make(const traced_event& next, part& by);
  void end(const traced_event& next, part& by);
  place new_place(const traced_event& next, part& by);
  void count_block(std::uint64_t size);

  const future& known_;
  double ns_a_unit_;
  const std::map<std::uint32_t, pooled_site>& pooled_;
  std::unordered_map<std::uint32_t, unsigned> pool_of_; ///< by site
  std::vector<std::unique_ptr<part>> parts_;
  std::unordered_map<std::uint64_t, place> places_;
  std::unordered_map<std::uint32_t, traced_event> resizing_; ///< by thread
  script_header totals_{};
  std::uint64_t live_bytes_ = 0;
  std::uint32_t running_ = UINT32_MAX;
  std::uint64_t last_time_ = 0;
  std::uint64_t done_ = 0;
};

part& maker::part_of(std::uint32_t thread) {
  while (parts_.size() <= thread) {
    // Whoever ran last starts it: most often that is its creator.
    if (!parts_.empty() && running_ != UINT32_MAX) {
      parts_[running_]->steps.push_back({step::pack(step_kind::start, false, false, 0, 0),
                                         static_cast<std::uint32_t>(parts_.size()), 0});
    }
    parts_.push_back(std::make_unique<part>());
  }
  return *parts_[thread];
}

void maker::pass_turn() {
  if (running_ == UINT32_MAX) return;
  parts_[running_]->steps.push_back({step::pack(step_kind::pass, false, false, 0, done_), 0, 0});
}

void maker::switch_to(std::uint32_t thread, std::uint64_t time) {
  part& by = part_of(thread);
  if (running_ != thread) {
    pass_turn();
    by.steps.push_back({step::pack(step_kind::turn, false, false, 0, done_), 0, 0});
    running_ = thread;
  }
  const double gap_ns = static_cast<double>(time - last_time_) * ns_a_unit_;
  if (gap_ns >= least_sleep_ns) {
    by.steps.push_back(
        {step::pack(step_kind::sleep, false, false, 0, static_cast<std::uint64_t>(gap_ns)), 0, 0});
  }
  last_time_ = time;
}

place maker::new_place(const traced_event& next, part& by) {
  const bool shared = known_.handed_over[next.block];
  if (shared && totals_.shared_slots == UINT32_MAX) throw trace_error{"too many hand-overs"};
  const std::uint32_t slot =
      shared ? static_cast<std::uint32_t>(totals_.shared_slots++) : by.take_slot();
  return {slot, shared, next.size, next.alignment_log};
}

void maker::count_block(std::uint64_t size) {
  ++totals_.blocks;
  totals_.bytes += size;
  live_bytes_ += size;
  totals_.peak_live_bytes = std::max(totals_.peak_live_bytes, live_bytes_);
}

void maker::make(const traced_event& next, part& by) {
  const auto pages = known_.pages.find(next.block);
  const std::uint32_t touched = pages != known_.pages.end() ? pages->second + 1 : 0;
  ++totals_.calls;
  if (next.kind == event_kind::resize_to) {
    const auto from = resizing_.find(next.thread);
    if (from == resizing_.end()) throw trace_error{"it ends a resize that did not begin"};
    const place old = places_.at(from->second.block);
    if (old.pool != no_pool) throw trace_error{"a block of a pooled site is resized"};
    places_.erase(from->second.block);
    resizing_.erase(from);
    if (!old.shared) by.free_slots.push_back(old.slot);
    const place now = new_place(next, by);
    by.steps.push_back(
        {step::pack(step_kind::resize, old.shared, now.shared, 0, next.size), old.slot, now.slot});
    live_bytes_ -= old.size;
    places_[next.block] = now;
    count_block(next.size);
    return;
  }
  const step_kind kind = next.kind == event_kind::calloc       ? step_kind::calloc
                         : next.kind == event_kind::aligned    ? step_kind::aligned
                         : next.kind == event_kind::scalar_new ? step_kind::scalar_new
                         : next.kind == event_kind::array_new  ? step_kind::array_new
                                                               : step_kind::malloc;
  place now = new_place(next, by);
  if (const auto pool = pool_of_.find(next.site); pool != pool_of_.end()) {
    now.pool = pool->second;
    by.steps.push_back(
        {step::pack(step_kind::pooled_allocate, now.shared, false, now.pool, next.size), now.slot,
         touched});
  } else {
    by.steps.push_back(
        {step::pack(kind, now.shared, false, next.alignment_log, next.size), now.slot, touched});
  }
  places_[next.block] = now;
  count_block(next.size);
}

void maker::end(const traced_event& next, part& by) {
  if (next.kind == event_kind::resize_from) {
    resizing_[next.thread] = next;
    return;
  }
  const auto found = places_.find(next.block);
  if (found == places_.end()) throw trace_error{"it ends a block twice"};
  const place old = found->second;
  places_.erase(found);
  const step_kind kind = next.kind == event_kind::scalar_delete  ? step_kind::scalar_delete
                         : next.kind == event_kind::array_delete ? step_kind::array_delete
                                                                 : step_kind::free;
  // The alignment of `operator new` has to be given back to `operator delete`.
  by.steps.push_back({old.pool != no_pool
                          ? step::pack(step_kind::pooled_deallocate, old.shared, false, old.pool, 0)
                          : step::pack(kind, old.shared, false, old.alignment_log, 0),
                      old.slot, 0});
  if (!old.shared) by.free_slots.push_back(old.slot);
  live_bytes_ -= old.size;
  ++totals_.calls;
}

void maker::take(const traced_event& next) {
  const bool plays =
      makes_block(next.kind) || ends_block(next.kind) || next.kind == event_kind::usable_size;
  if (!plays) return;
  switch_to(next.thread, next.time);
  part& by = *parts_[next.thread];
  ++done_;
  if (makes_block(next.kind)) return make(next, by);
  if (ends_block(next.kind)) return end(next, by);
  if (const auto found = places_.find(next.block);
      found != places_.end() && !found->second.shared) {
    by.steps.push_back(
        {step::pack(step_kind::usable_size, false, false, 0, 0), found->second.slot, 0});
  }
}

void maker::write(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "wb"),
                                                             std::fclose};
  if (!file) throw trace_error{path + ": " + std::strerror(errno)};
  totals_.magic = script_magic;
  totals_.threads = parts_.size();
  totals_.left_blocks = places_.size();
  std::vector<thread_part> index;
  for (const auto& each : parts_) {
    index.push_back({totals_.steps, each->steps.size(), each->slots});
    totals_.steps += each->steps.size();
  }
  bool whole = std::fwrite(&totals_, sizeof totals_, 1, file.get()) == 1;
  for (const auto& [site, about] : pooled_) {
    whole = whole && std::fwrite(&about, sizeof about, 1, file.get()) == 1;
  }
  whole = whole &&
          std::fwrite(index.data(), sizeof(thread_part), index.size(), file.get()) == index.size();
  for (const auto& each : parts_) {
    whole = whole && std::fwrite(each->steps.data(), sizeof(step), each->steps.size(),
                                 file.get()) == each->steps.size();
  }
  if (!whole || std::fflush(file.get()) != 0) throw trace_error{path + ": " + std::strerror(errno)};
}

} // namespace

void write_script(trace_reader& trace, double ns_a_unit, const std::string& path,
                  const std::map<std::uint32_t, pooled_site>& pooled) {
  const future known = read_future(trace);
  maker makes{known, ns_a_unit, pooled};
  trace.each([&](const traced_event& next) { makes.take(next); });
  makes.finish();
  makes.write(path);
}

} // namespace heapwise::bench
