#include "drain/processes/recording.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "line/json_line.hpp"
#include "trace/stamp.hpp"

namespace heapwise::bench {

namespace {

constexpr double margin_ns = 1e6;        ///< events are this old before those of threads are merged
constexpr double patience_ns = 2e9;      ///< an end waits this long for its block
constexpr double between_looks_ns = 1e8; ///< for threads that are gone
constexpr long longest_poll_ns = 2'000'000; ///< nobody can end it but a process that ends

bool thread_is_gone(pid_t process, std::int32_t thread) {
  const std::string path = "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread);
  return access(path.c_str(), F_OK) != 0;
}

} // namespace

recording::recording(trace_context& context, const tick_length& tick, pauses& pausing,
                     const std::string& path)
    : context_{context}, tick_{tick}, pausing_{pausing}, paths_{path} {
  traces_.push_back(std::make_unique<process_trace>(context_, path));
}

void recording::begin_first(pid_t process, std::uint64_t start) {
  process_trace& first = *traces_.front();
  first.begin(0, {process, getpid(), true, false}, start);
  live_.push_back(&first);
  by_number_[0] = &first;
}

void recording::discover() {
  const shared_memory& memory = context_.all.memory();
  const std::uint32_t used = memory.processes_used.load(std::memory_order_acquire);
  for (unsigned number = 1; number < used && number < most_processes; ++number) {
    // acquire: with the release of the process, so that what it says of itself is there.
    if (by_number_[number] == nullptr &&
        memory.processes[number].is_ready.load(std::memory_order_acquire)) {
      begin_child(number);
    }
  }
}

void recording::begin_child(unsigned number) {
  const process_entry& entry = context_.all.memory().processes[number];
  const process_identity process{entry.id.load(std::memory_order_relaxed),
                                 entry.parent.load(std::memory_order_relaxed), false,
                                 entry.is_forked.load(std::memory_order_relaxed)};
  traces_.push_back(std::make_unique<process_trace>(context_, paths_.of_child(process.id)));
  process_trace& begun = *traces_.back();
  begun.begin(number, process, entry.first_stamp.load(std::memory_order_relaxed));
  live_.push_back(&begun);
  by_number_[number] = &begun;
}

bool recording::has_ended(const process_trace& each) const {
  if (is_stopped_) return true;
  return each.process().is_first ? status_.has_value() : each.end().has_come();
}

std::uint64_t recording::ticks(double nanoseconds) const noexcept {
  const double tick_ns = least_unit_ns / static_cast<double>(1U << context_.time_shift);
  return static_cast<std::uint64_t>(nanoseconds / tick_ns);
}

std::uint64_t recording::pass() {
  // Asked before the rings are looked at: then those of an ended process hold all of its calls.
  std::vector<process_trace*> ended;
  std::ranges::copy_if(live_, std::back_inserter(ended),
                       [&](const process_trace* each) { return has_ended(*each); });
  context_.all.look();
  // After the look: an event that was seen has an entry that can be seen.
  if (context_.all.memory().follows) discover();
  const std::uint64_t now = stamp_now();
  const std::uint64_t horizon = now - ticks(margin_ns);
  std::uint64_t taken = 0;
  for (process_trace* each : live_) {
    const bool is_over = std::ranges::find(ended, each) != ended.end();
    if (context_.all.has_slots(each->number()))
      taken += each->drain(is_over ? UINT64_MAX : horizon);
  }
  if (now - reclaimed_at_ >= ticks(between_looks_ns) || !ended.empty()) reclaim(now);
  for (process_trace* each : ended) finish(*each);
  return taken;
}

void recording::reclaim(std::uint64_t now) {
  reclaimed_at_ = now;
  context_.all.reclaim([&](unsigned number, std::int32_t thread) {
    const process_trace* owner = number < most_processes ? by_number_[number] : nullptr;
    if (owner == nullptr) return false;
    return has_ended(*owner) || (thread != 0 && thread_is_gone(owner->process().id, thread));
  });
  for (process_trace* each : live_) {
    each->give_up_waiting(now - ticks(patience_ns));
    each->look_at_program();
  }
}

recording_end recording::end_of(const process_trace& ended) const {
  const shared_memory& memory = context_.all.memory();
  const process_entry& entry = memory.processes[ended.number()];
  recording_end end;
  end.threads_missed = entry.threads_missed.load();
  end.events_missed = entry.events_missed.load();
  end.images = entry.images.load();
  end.pauses = pausing_.count();
  end.paused_s = pausing_.seconds();
  const double tick_ns = tick_.ns();
  end.ns_a_unit = tick_ns * static_cast<double>(1U << context_.time_shift);
  end.wall_s = static_cast<double>(stamp_now() - ended.start()) * tick_ns * 1e-9;
  if (ended.process().is_first) {
    end.status = status_;
    end.other_processes = memory.other_processes.load();
    end.forked_processes = memory.forked_processes.load();
  }
  return end;
}

void recording::finish(process_trace& ended) {
  // What came after the last look; the slots are then free for others.
  context_.all.look();
  while (context_.all.has_slots(ended.number()) && ended.drain(UINT64_MAX) != 0) {
    context_.all.look();
  }
  reclaim(stamp_now());
  ended.finish(end_of(ended));
  process_entry& entry = context_.all.memory().processes[ended.number()];
  std::erase(live_, &ended);
  by_number_[ended.number()] = nullptr;
  if (is_stopped_ || ended.process().is_first) return; // its entry stays, as its memory may
  entry.images.store(0, std::memory_order_relaxed);
  entry.threads_missed.store(0, std::memory_order_relaxed);
  entry.events_missed.store(0, std::memory_order_relaxed);
  entry.is_ready.store(false, std::memory_order_relaxed);
  // release: with the acquire of the process that takes the entry next.
  entry.id.store(0, std::memory_order_release);
}

void recording::stop() noexcept {
  context_.all.memory().recording.store(recording_state::off, std::memory_order_relaxed);
  is_stopped_ = true;
}

void recording::resume() {
  context_.all.look();
  for (process_trace* each : live_) {
    if (context_.all.has_slots(each->number())) each->drain(UINT64_MAX);
    each->give_up_waiting(UINT64_MAX);
    // The ends of samples are written down in a pause, too.
    if (context_.all.memory().sample_every == 0) each->resume();
  }
}

void recording::flush() {
  context_.all.look();
  for (process_trace* each : live_) {
    if (context_.all.has_slots(each->number())) each->drain(UINT64_MAX);
    each->flush();
  }
}

void recording::wait(std::uint32_t calls, long nanoseconds) const {
  // The end of the program is a signal. Those of others are not, but until then nobody waits for
  // them.
  if (!status_) return context_.all.memory().alarm.wait(calls, nanoseconds);
  std::vector<const process_end*> ends;
  ends.reserve(live_.size());
  for (const process_trace* each : live_) ends.push_back(&each->end());
  process_end::wait(ends, std::min(nanoseconds, longest_poll_ns));
}

int recording::error() const noexcept {
  for (const auto& each : traces_) {
    if (!each->file().ok()) return each->file().error();
  }
  return 0;
}

const std::string& recording::failed_path() const noexcept {
  const auto failed =
      std::ranges::find_if(traces_, [](const auto& each) { return !each->file().ok(); });
  return (failed != traces_.end() ? *failed : traces_.front())->file().path();
}

/// A process that posix_spawn started may have loaded the recorder before it was noted.
bool recording::had_recorder(pid_t process) const {
  const shared_memory& memory = context_.all.memory();
  return std::ranges::any_of(traces_,
                             [&](const auto& each) { return each->process().id == process; }) ||
         std::ranges::any_of(memory.refused, [&](const auto& each) {
           return each.load(std::memory_order_relaxed) == process;
         });
}

std::string recording::result_json() const {
  std::string result = traces_.front()->summary();
  result.back() = ',';
  result += "\"processes\":[";
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    result += (i != 0 ? "," : "") + traces_[i]->result_json();
  }
  result += "],\"children_without\":[";
  bool is_first = true;
  for (const exec_note& each : context_.all.memory().started) {
    const std::int32_t process = each.process.load(std::memory_order_acquire);
    if (process == 0 || had_recorder(process)) continue;
    result += (is_first ? "" : ",") + other_program_json(each);
    is_first = false;
  }
  return result + "],\"not_written\":" + failure_json() + "}";
}

/// null, or the trace that could not be written, and why.
std::string recording::failure_json() const {
  if (error() == 0) return "null";
  std::string buffer(failed_path().size() * 6 + 512, '\0');
  json_line line{buffer.data(), buffer.size()};
  line.open('{').key("path").value(failed_path());
  line.key("reason").value(std::strerror(error())).close('}');
  return std::string{line.text()};
}

} // namespace heapwise::bench
