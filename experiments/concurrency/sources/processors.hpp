// Where the threads of a cell run: asked of the kernel, and read back from it.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "harness/cell.hpp"
#include "kernel/cpu_list.hpp"

namespace concurrency {

using heapwise::bench::cell;
using heapwise::bench::cpu_list;
using heapwise::bench::sample;
using heapwise::bench::team_member;

/// The hardware threads of the core that `cpu` belongs to, itself included; where the kernel does
/// not say, only itself.
[[nodiscard]] inline cpu_list siblings_of(unsigned cpu) {
  char path[96];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
                cpu);
  char text[256] = "";
  if (std::FILE* file = std::fopen(path, "re"); file != nullptr) {
    if (std::fscanf(file, "%255s", text) != 1) text[0] = '\0';
    std::fclose(file);
  }
  cpu_list cpus;
  if (cpu_list::parse(text, cpus) && cpus.contains(cpu)) return cpus;
  cpus = cpu_list{};
  cpus.insert(cpu);
  return cpus;
}

/// The calling thread's stay on one processor.
class stay {
 public:
  explicit stay(unsigned cpu) noexcept : cpu_{cpu} {
    cpu_list only;
    only.insert(cpu);
    asked_ = only.apply();
  }

  /// True if the kernel took the request, still has it, and the thread runs there now.
  [[nodiscard]] bool kept() const noexcept {
    const cpu_list mine = cpu_list::of_this_thread();
    return asked_ && mine.size() == 1 && mine.contains(cpu_) &&
           sched_getcpu() == static_cast<int>(cpu_);
  }

 private:
  unsigned cpu_;
  bool asked_;
};

/// The processors that the cell may use: one of each core first, then their siblings.
class processors {
 public:
  /// Refuses the cell where there are fewer than `cores` cores, or the kernel does not move a
  /// thread to where it is asked to.
  processors(const cell& the_cell, std::size_t cores) {
    collect();
    if (cores_ < cores) {
      the_cell.refuse("affinity", "the threads need a core each, and this process may use fewer");
    }
    for (const unsigned cpu : all_) {
      bool has_moved = false;
      std::thread{[&has_moved, cpu] { has_moved = stay{cpu}.kept(); }}.join();
      if (!has_moved)
        the_cell.refuse("affinity", "the kernel did not move a thread to the processor");
    }
  }

  [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
  [[nodiscard]] std::size_t cores() const noexcept { return cores_; }

  /// The processor of the thread with this index; in turn where there are more threads.
  [[nodiscard]] unsigned of(int index) const noexcept {
    return all_[static_cast<std::size_t>(index) % all_.size()];
  }

 private:
  void collect() {
    const cpu_list allowed = cpu_list::of_this_thread();
    std::vector<unsigned> siblings;
    cpu_list cores_seen;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!allowed.contains(cpu)) continue;
      (cores_seen.contains(cpu) ? siblings : all_).push_back(cpu);
      cores_seen.add(siblings_of(cpu));
    }
    cores_ = all_.size();
    all_.insert(all_.end(), siblings.begin(), siblings.end());
  }

  std::vector<unsigned> all_;
  std::size_t cores_ = 0;
};

/// sample::measure_team with every thread kept on its processor, and a check that it was.
template <class Operations, class Body>
std::uint64_t measure_placed(cell& the_cell, sample& the_sample, const processors& where,
                             int threads, Operations&& operations, Body&& body) {
  std::atomic<int> kept{0};
  const std::uint64_t elapsed_ns =
      the_sample.measure_team(threads, operations, [&](team_member& member) {
        const stay here{where.of(member.index())};
        body(member);
        if (here.kept()) ++kept;
      });
  the_cell.check("placement", kept == threads,
                 "{} threads of {} kept to the processor they asked for", kept.load(), threads);
  return elapsed_ns;
}

} // namespace concurrency
