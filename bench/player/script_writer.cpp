#include "player/script_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "player/future.hpp"
#include "player/script.hpp"

namespace heapwise::bench {

namespace {

/// Gaps that are shorter are computing of the program, which a replay does not do.
constexpr double least_sleep_ns = 1e6;

/// Of how many blocks that a thread hands over one may have to wait.
constexpr std::uint64_t blocks_between_waits = 16;

/// The steps of one thread, and its free slots.
struct part {
  std::vector<step> steps;
  std::vector<std::uint32_t> free_slots;
  std::uint32_t slots = 0;
  std::uint64_t handed_over = 0;         ///< blocks that it made and that another thread ends
  std::vector<std::uint32_t> ended_over; ///< slots of those that have ended, in that order
  std::uint64_t most_waiting = 0;        ///< of those at one time that had not ended

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
  std::uint32_t thread; ///< that has the slot, unless it is shared
  std::uint64_t size;
  std::uint8_t alignment_log;
  step_kind end = step_kind::free; ///< how the block ends if no call ends it
  unsigned pool = no_pool;
  part* maker = nullptr; ///< of a block that is handed over, if a thread of the window made it
};

class maker {
 public:
  maker(const future& known, double ns_a_unit, const pooling& pooled)
      : known_{known}, ns_a_unit_{ns_a_unit}, pooled_{pooled} {
    totals_.pooled_sites = pooled_.pools.size();
  }

  void prepare(const traced_event& live);
  void take(const traced_event& next);
  void finish() { pass_turn(running_); }
  void write(const std::string& path);

 private:
  std::uint32_t thread_of(std::uint32_t recorded);
  void switch_to(std::uint32_t thread, std::uint64_t time);
  void pass_turn(std::uint32_t next);
  void make(const traced_event& next, part& by);
  void resize(const traced_event& next, const place& old, part& by);
  void end(const traced_event& next, part& by);
  void end_block(const place& old, step_kind kind, part& by);
  void forget_blocks(const traced_event& next);
  void place_block(const traced_event& next, step_kind kind, bool shared, part& by);
  place new_place(const traced_event& next, bool shared, part& by);
  void hand_over(part& by);
  void leave_place(const place& old, part& by);
  [[nodiscard]] std::uint32_t touched(std::uint64_t block) const;
  void add_live(std::uint64_t size);

  const future& known_;
  double ns_a_unit_;
  const pooling& pooled_;
  part prepared_;
  std::vector<std::unique_ptr<part>> parts_;
  std::unordered_map<std::uint32_t, std::uint32_t> threads_; ///< by recorded number
  std::unordered_map<std::uint64_t, place> places_;
  std::unordered_map<std::uint32_t, traced_event> resizing_; ///< by recorded thread
  script_header totals_{};
  std::uint64_t live_bytes_ = 0;
  std::uint32_t running_ = UINT32_MAX;
  std::uint64_t last_time_ = 0;
  std::uint64_t done_ = 0;
};

/// Threads are numbered by their first events, since a window may not have them all.
std::uint32_t maker::thread_of(std::uint32_t recorded) {
  const auto next = static_cast<std::uint32_t>(parts_.size());
  const auto [entry, is_new] = threads_.try_emplace(recorded, next);
  if (is_new) {
    // The thread that ran last starts it: most often that is its creator.
    if (next != 0) {
      parts_[running_]->steps.push_back(
          {step::pack(step_kind::start, false, false, 0, 0), next, 0});
    }
    parts_.push_back(std::make_unique<part>());
  }
  return entry->second;
}

void maker::pass_turn(std::uint32_t next) {
  if (running_ == UINT32_MAX) return;
  parts_[running_]->steps.push_back({step::pack(step_kind::pass, false, false, 0, done_), next, 0});
}

void maker::switch_to(std::uint32_t thread, std::uint64_t time) {
  part& by = *parts_[thread];
  if (running_ == UINT32_MAX) last_time_ = time;
  if (running_ != thread) {
    pass_turn(thread);
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

place maker::new_place(const traced_event& next, bool shared, part& by) {
  if (shared && totals_.shared_slots == UINT32_MAX) throw trace_error{"too many hand-overs"};
  if (shared && &by != &prepared_) hand_over(by);
  const std::uint32_t slot =
      shared ? static_cast<std::uint32_t>(totals_.shared_slots++) : by.take_slot();
  return {.slot = slot,
          .shared = shared,
          .thread = running_,
          .size = next.size,
          .alignment_log = next.alignment_log,
          .maker = shared && &by != &prepared_ ? &by : nullptr};
}

/// A program's queues are bounded: the thread that fills one waits for the other. So the replay has
/// no more such blocks that wait for their end than the recording had up to here. What a thread
/// waits for came before in the recording, so threads never wait for each other in a circle.
void maker::hand_over(part& by) {
  by.most_waiting = std::max(by.most_waiting, by.handed_over - by.ended_over.size());
  if (by.handed_over % blocks_between_waits == 0 && by.handed_over > by.most_waiting) {
    by.steps.push_back({step::pack(step_kind::wait_for_end, true, false, 0, 0),
                        by.ended_over[by.handed_over - by.most_waiting - 1], 0});
  }
  ++by.handed_over;
}

void maker::leave_place(const place& old, part& by) {
  if (!old.shared) {
    by.free_slots.push_back(old.slot);
  } else if (old.maker != nullptr) {
    old.maker->ended_over.push_back(old.slot);
  }
}

/// As step::target of a block that is made.
std::uint32_t maker::touched(std::uint64_t block) const {
  const auto pages = known_.pages.find(block);
  return pages != known_.pages.end() ? pages->second + 1 : 0;
}

void maker::add_live(std::uint64_t size) {
  live_bytes_ += size;
  totals_.peak_live_bytes = std::max(totals_.peak_live_bytes, live_bytes_);
}

step_kind usual_end(step_kind makes) {
  if (makes == step_kind::scalar_new) return step_kind::scalar_delete;
  return makes == step_kind::array_new ? step_kind::array_delete : step_kind::free;
}

void maker::place_block(const traced_event& next, step_kind kind, bool shared, part& by) {
  place now = new_place(next, shared, by);
  now.end = usual_end(kind);
  if (const auto pool = pooled_.of_site.find(next.site); pool != pooled_.of_site.end()) {
    now.pool = pool->second;
    by.steps.push_back(
        {step::pack(step_kind::pooled_allocate, now.shared, false, now.pool, next.size), now.slot,
         touched(next.block)});
  } else {
    by.steps.push_back({step::pack(kind, now.shared, false, next.alignment_log, next.size),
                        now.slot, touched(next.block)});
  }
  places_[next.block] = now;
  add_live(next.size);
}

/// Which call made a live block is not in the trace, but the call that ends it is.
void maker::prepare(const traced_event& live) {
  const auto end = known_.ends.find(live.block);
  const event_kind ends = end != known_.ends.end() ? end->second : event_kind::free;
  const step_kind kind = ends == event_kind::scalar_delete  ? step_kind::scalar_new
                         : ends == event_kind::array_delete ? step_kind::array_new
                         : live.alignment_log != 0          ? step_kind::aligned
                                                            : step_kind::malloc;
  place_block(live, kind, true, prepared_);
  ++totals_.prepared;
}

/// The grown part is written to. Of a large block, the pages that were resident at its end count.
void maker::resize(const traced_event& next, const place& old, part& by) {
  constexpr std::uint64_t line = 64;
  constexpr std::uint64_t page = 4096;
  const std::uint32_t pages = touched(next.block);
  const std::uint64_t end =
      pages == 0 ? next.size : std::min<std::uint64_t>(next.size, (pages - 1) * page);
  const std::uint64_t added = end > old.size ? end - old.size : 0;
  const std::uint64_t lines = std::min<std::uint64_t>((added + line - 1) / line, UINT32_MAX);
  by.steps.push_back({step::pack(step_kind::grow, false, false, 0, old.size), 0,
                      static_cast<std::uint32_t>(lines)});
  leave_place(old, by);
  const place now = new_place(next, known_.handed_over.contains(next.block), by);
  by.steps.push_back(
      {step::pack(step_kind::resize, old.shared, now.shared, 0, next.size), old.slot, now.slot});
  live_bytes_ -= old.size;
  places_[next.block] = now;
  add_live(next.size);
}

void maker::make(const traced_event& next, part& by) {
  ++totals_.calls;
  ++totals_.blocks;
  totals_.bytes += next.size;
  if (next.kind == event_kind::resize_to) {
    if (const auto from = resizing_.find(next.thread); from != resizing_.end()) {
      const place old = places_.at(from->second.block);
      if (old.pool != no_pool) throw trace_error{"a block of a pooled site is resized"};
      places_.erase(from->second.block);
      resizing_.erase(from);
      return resize(next, old, by);
    }
    // The first half may be before the window, or of a block that the trace does not know, as the
    // parent's in a forked child. Its block is as new then.
  }
  const step_kind kind = next.kind == event_kind::calloc       ? step_kind::calloc
                         : next.kind == event_kind::aligned    ? step_kind::aligned
                         : next.kind == event_kind::scalar_new ? step_kind::scalar_new
                         : next.kind == event_kind::array_new  ? step_kind::array_new
                                                               : step_kind::malloc;
  place_block(next, kind, known_.handed_over.contains(next.block), by);
}

void maker::end(const traced_event& next, part& by) {
  if (next.kind == event_kind::resize_from) {
    resizing_[next.thread] = next;
    return;
  }
  const auto entry = places_.find(next.block);
  if (entry == places_.end()) throw trace_error{"it ends a block twice"};
  const place old = entry->second;
  places_.erase(entry);
  const step_kind kind = next.kind == event_kind::scalar_delete  ? step_kind::scalar_delete
                         : next.kind == event_kind::array_delete ? step_kind::array_delete
                                                                 : step_kind::free;
  end_block(old, kind, by);
}

void maker::end_block(const place& old, step_kind kind, part& by) {
  // The alignment of `operator new` has to be given back to `operator delete`.
  by.steps.push_back(
      {old.pool != no_pool
           ? step::pack(step_kind::pooled_deallocate, old.shared, false, old.pool, old.size)
           : step::pack(kind, old.shared, false, old.alignment_log, old.size),
       old.slot, 0});
  leave_place(old, by);
  live_bytes_ -= old.size;
  ++totals_.calls;
}

/// A new image has none of the blocks of the old one, and what a pause has ended is not known. The
/// recording knows none of them any more, so they end here.
void maker::forget_blocks(const traced_event& next) {
  resizing_.clear();
  std::vector<std::uint64_t> blocks;
  blocks.reserve(places_.size());
  for (const auto& [block, _] : places_) blocks.push_back(block);
  std::ranges::sort(blocks); // a script is the same each time it is made
  for (const std::uint64_t block : blocks) {
    const place old = places_.at(block);
    const std::uint32_t thread = old.shared ? thread_of(next.thread) : old.thread;
    switch_to(thread, next.time);
    ++done_;
    end_block(old, old.end, *parts_[thread]);
  }
  places_.clear();
}

void maker::take(const traced_event& next) {
  if (next.kind == event_kind::new_image || next.kind == event_kind::resumed) {
    return forget_blocks(next);
  }
  const bool plays =
      makes_block(next.kind) || ends_block(next.kind) || next.kind == event_kind::usable_size;
  if (!plays) return;
  const std::uint32_t thread = thread_of(next.thread);
  switch_to(thread, next.time);
  part& by = *parts_[thread];
  ++done_;
  if (makes_block(next.kind)) return make(next, by);
  if (ends_block(next.kind)) return end(next, by);
  if (const auto entry = places_.find(next.block);
      entry != places_.end() && !entry->second.shared) {
    by.steps.push_back(
        {step::pack(step_kind::usable_size, false, false, 0, 0), entry->second.slot, 0});
  }
}

void maker::write(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "wb"),
                                                             std::fclose};
  if (!file) throw trace_error{path + ": " + std::strerror(errno)};
  totals_.magic = script_magic;
  totals_.threads = parts_.size();
  totals_.left_blocks = places_.size();
  totals_.steps = prepared_.steps.size();
  std::vector<thread_part> index;
  for (const auto& each : parts_) {
    index.push_back({totals_.steps, each->steps.size(), each->slots});
    totals_.steps += each->steps.size();
  }
  bool whole = std::fwrite(&totals_, sizeof totals_, 1, file.get()) == 1;
  const auto add = [&](const auto& all) {
    whole = whole && std::fwrite(all.data(), sizeof all[0], all.size(), file.get()) == all.size();
  };
  add(pooled_.pools);
  add(index);
  add(prepared_.steps);
  for (const auto& each : parts_) add(each->steps);
  if (!whole || std::fflush(file.get()) != 0) throw trace_error{path + ": " + std::strerror(errno)};
}

} // namespace

void write_script(trace_reader& trace, double ns_a_unit, const std::string& path,
                  const pooling& pooled) {
  const future known = read_future(trace);
  maker makes{known, ns_a_unit, pooled};
  trace.each_live([&](const traced_event& live) { makes.prepare(live); });
  trace.each([&](const traced_event& next) { makes.take(next); });
  makes.finish();
  makes.write(path);
}

} // namespace heapwise::bench
