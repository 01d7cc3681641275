// Threads that start together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "kernel/clock.hpp"
#include "kernel/cpu_list.hpp"
#include "kernel/pause.hpp"

namespace heapwise::bench {

/// The threads wait here until all of them have arrived. Where each can have a processor of its
/// own, none leaves before all are awake: the kernel wakes sleeping threads one after the other,
/// tens of microseconds apart, and a region of 0.2 ms would begin with fewer threads than it is
/// named for.
class start_line {
 public:
  explicit start_line(int threads) noexcept
      : missing_{threads},
        asleep_{threads <= cpu_list::of_this_thread().size() ? threads : 0},
        together_{asleep_.load(std::memory_order_relaxed) != 0} {}

  void arrive_and_wait() noexcept {
    // acq_rel: what a thread prepared before it arrived is seen by all threads that leave.
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) missing_.notify_all();
    for (int left = missing_.load(std::memory_order_acquire); left != 0;
         left = missing_.load(std::memory_order_acquire)) {
      missing_.wait(left, std::memory_order_acquire);
    }
    if (together_) wait_until_all_are_awake();
  }

 private:
  void wait_until_all_are_awake() noexcept {
    // Relaxed: the first stage has published everything. This one is about time only.
    asleep_.fetch_sub(1, std::memory_order_relaxed);
    while (asleep_.load(std::memory_order_relaxed) != 0) pause();
  }

  std::atomic<int> missing_;
  std::atomic<int> asleep_;
  bool together_;
};

/// One thread of a team. `start` waits for the others and starts this thread's clock; `stop` ends
/// it, so that what the thread sets up before and tears down after is not timed.
class team_member {
 public:
  team_member(int index, start_line& line) noexcept : index_{index}, line_{&line} {}

  [[nodiscard]] int index() const noexcept { return index_; }

  void start() noexcept {
    line_->arrive_and_wait();
    cpus_.insert_current();
    start_processor_ns_ = process_cpu_ns();
    start_ns_ = now_ns();
  }
  void stop() noexcept {
    stop_ns_ = now_ns();
    stop_processor_ns_ = process_cpu_ns();
    cpus_.insert_current();
  }

  [[nodiscard]] std::uint64_t start_ns() const noexcept { return start_ns_; }
  [[nodiscard]] std::uint64_t stop_ns() const noexcept { return stop_ns_; }
  [[nodiscard]] std::uint64_t start_processor_ns() const noexcept { return start_processor_ns_; }
  [[nodiscard]] std::uint64_t stop_processor_ns() const noexcept { return stop_processor_ns_; }
  [[nodiscard]] const cpu_list& cpus() const noexcept { return cpus_; }

 private:
  int index_;
  start_line* line_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t stop_ns_ = 0;
  std::uint64_t start_processor_ns_ = 0;
  std::uint64_t stop_processor_ns_ = 0;
  cpu_list cpus_;
};

struct team_time {
  std::uint64_t wall_ns = 0;      ///< from the first start to the last stop
  std::uint64_t processor_ns = 0; ///< of all threads of the process in that time
  cpu_list cpus;                  ///< where the threads were seen
};

/// Runs `body(team_member&)` on `threads` new threads; every body must call start and stop once.
template <class Body>
team_time run_team(int threads, Body&& body) {
  start_line line{threads};
  std::vector<team_member> members;
  for (int i = 0; i < threads; ++i) members.emplace_back(i, line);
  std::vector<std::thread> running;
  for (auto& member : members) running.emplace_back([&body, &member] { body(member); });
  for (auto& thread : running) thread.join();
  team_time time;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  std::uint64_t first_processor = UINT64_MAX;
  std::uint64_t last_processor = 0;
  for (const auto& member : members) {
    first = std::min(first, member.start_ns());
    last = std::max(last, member.stop_ns());
    first_processor = std::min(first_processor, member.start_processor_ns());
    last_processor = std::max(last_processor, member.stop_processor_ns());
    time.cpus.add(member.cpus());
  }
  time.wall_ns = last - first;
  time.processor_ns = last_processor - first_processor;
  return time;
}

} // namespace heapwise::bench
