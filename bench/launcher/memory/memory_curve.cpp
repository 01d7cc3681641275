#include "launcher/memory/memory_curve.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "kernel/clock.hpp"
#include "launcher/facts/small_file.hpp"

namespace heapwise::bench {
namespace {

constexpr std::uint64_t millisecond_ns = 1'000'000;
constexpr std::uint64_t first_look_ns = 50 * millisecond_ns;
constexpr std::uint64_t least_distance_ns = 10 * millisecond_ns;
constexpr std::uint64_t share = 2000; // of the time, one part for each of the two kinds of looks

// Of a count, until one was made.
constexpr double guessed_kib_ns = 15;
constexpr double guessed_process_ns = 50'000;

/// smaps_rollup has these lines for all mappings of a process together.
bool count(const tree_process& process, tree_memory& sum, sharing& shared) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/smaps_rollup", static_cast<int>(process.pid));
  const small_file file{path};
  const auto number = [&](const char* label) {
    return std::max<std::int64_t>(0, file.number_after(label));
  };
  const std::int64_t proportional = file.number_after("\nPss:");
  if (proportional < 0) return false;
  const std::int64_t resident = number("\nRss:");
  shared.counted(process, {resident, number("\nAnonymous:")}, proportional);
  sum.resident_kib += resident;
  sum.proportional_kib += proportional;
  sum.private_kib += number("\nPrivate_Clean:") + number("\nPrivate_Dirty:");
  sum.shared_kib += number("\nShared_Clean:") + number("\nShared_Dirty:");
  sum.lazy_free_kib += number("\nLazyFree:");
  sum.swap_kib += number("\nSwapPss:");
  sum.mapped_kib += number("\nPss_Shmem:");
  return true;
}

bool glance(const tree_process& process, bool alone, tree_memory& sum, sharing& shared) {
  static const long page_kib = sysconf(_SC_PAGESIZE) / 1024;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/statm", static_cast<int>(process.pid));
  const small_file file{path};
  long long whole = 0;
  long long resident = 0;
  long long shared_pages = 0;
  if (std::sscanf(file.text(), "%lld %lld %lld", &whole, &resident, &shared_pages) != 3) {
    return false;
  }
  if (whole == 0) return false; // it has ended
  const process_memory now{resident * page_kib, (resident - shared_pages) * page_kib};
  sum.resident_kib += now.resident_kib;
  sum.file_kib += shared_pages * page_kib;
  sum.proportional_kib += shared.proportional_kib(process, now, alone);
  return true;
}

} // namespace

void look_clock::took(std::uint64_t cost_ns, std::uint64_t now, std::uint64_t distance_ns) {
  cost_ns_ += cost_ns;
  due_ns_ = now + distance_ns;
}

std::uint64_t look_clock::due_ns() const {
  return std::max(due_ns_, start_ns_ + (cost_ns_ + expected_ns_) * share);
}

void memory_curve::start(pid_t program, std::uint64_t now) {
  if (kept_ == 0) return;
  program_ = program;
  start_ns_ = now;
  distance_ns_ = least_distance_ns;
  glances_.start(now, first_look_ns);
}

std::uint64_t memory_curve::due_ns() const {
  return program_ < 0 ? UINT64_MAX : std::min(counts_.due_ns(), glances_.due_ns());
}

void memory_curve::look() {
  const bool counts = now_ns() >= counts_.due_ns();
  const std::uint64_t cost_before = process_cpu_ns(); // not the wait for a processor
  const tree_memory seen = !counts ? see(false) : cost_of_kib_ns_ == 0 ? first_count() : see(true);
  if (group_ != nullptr && seen.processes != 0) group_->look(seen.at_ns);
  const std::uint64_t cost = process_cpu_ns() - cost_before;
  if (looks_ == 0) counts_.start(start_ns_, first_look_ns);
  (counts ? counts_ : glances_).took(cost, now_ns(), distance_ns_);
  if (counts) {
    const std::int64_t walked_kib = std::max<std::int64_t>(1, seen.resident_kib);
    cost_of_kib_ns_ = static_cast<double>(cost) / static_cast<double>(walked_kib);
  }
  counts_.expect(expected_count_ns(seen));
  // A program that has just ended has no memory, and that is not a look.
  if (seen.processes != 0) keep(seen);
}

std::uint64_t memory_curve::expected_count_ns(const tree_memory& seen) const {
  const double kib_ns = cost_of_kib_ns_ == 0 ? guessed_kib_ns : cost_of_kib_ns_;
  const double processes_ns = cost_of_kib_ns_ == 0 ? guessed_process_ns * seen.processes : 0;
  return static_cast<std::uint64_t>(kib_ns * static_cast<double>(seen.resident_kib) + processes_ns);
}

/// Glances before it took what other programs share, libraries above all, for the program's own.
/// How much that is, a glance at the same moment tells. It is of files: a program that ends loses
/// other memory between the two.
tree_memory memory_curve::first_count() {
  const tree_memory guess = see(false);
  const tree_memory seen = see(true);
  const std::int64_t counted_kib = seen.proportional_kib - seen.unmapped_kib;
  const std::int64_t difference_kib = guess.proportional_kib - counted_kib;
  const std::int64_t others_kib = std::clamp<std::int64_t>(difference_kib, 0, guess.file_kib);
  const auto lower = [others_kib](tree_memory& before) {
    before.proportional_kib = std::max<std::int64_t>(0, before.proportional_kib - others_kib);
  };
  if (seen.processes != guess.processes) return seen; // one has started or ended
  std::for_each_n(moments_, count_, lower);
  lower(peak_);
  return seen;
}

tree_memory memory_curve::see(bool counts) {
  tree_memory seen;
  tree_.look(program_);
  seen.at_ns = now_ns() - start_ns_;
  if (counts) {
    sharing_.begin_count();
    files_.begin();
  }
  const bool alone = tree_.end() - tree_.begin() == 1;
  for (const tree_process& process : tree_) {
    const bool read =
        counts ? count(process, seen, sharing_) : glance(process, alone, seen, sharing_);
    if (counts) files_.add(process.pid);
    ++(read ? seen.processes : seen.unread);
  }
  seen.counted = counts;
  seen.unmapped_kib =
      counts ? std::max<std::int64_t>(0, files_.kib() - seen.mapped_kib) : counted_.unmapped_kib;
  if (seen.processes != 0) seen.proportional_kib += seen.unmapped_kib;
  if (counts) {
    counted_ = seen;
    return seen;
  }
  seen.private_kib = counted_.private_kib;
  seen.shared_kib = counted_.shared_kib;
  seen.lazy_free_kib = counted_.lazy_free_kib;
  seen.swap_kib = counted_.swap_kib;
  return seen;
}

void memory_curve::keep(const tree_memory& seen) {
  ++looks_;
  last_ = seen;
  if (seen.proportional_kib > peak_.proportional_kib) peak_ = seen;
  most_unmapped_kib_ = std::max(most_unmapped_kib_, seen.unmapped_kib);
  if (count_ == kept_) thin();
  moments_[count_++] = seen;
}

void memory_curve::thin() {
  int left = 0;
  for (int i = 1; i < count_; i += 2) moments_[left++] = moments_[i];
  count_ = left;
  distance_ns_ *= 2;
}

template <class Field>
void memory_curve::write_column(json_line& line, const char* name, Field field) const {
  line.key(name).open('[');
  for (int i = 0; i < count_; ++i) line.value(field(moments_[i]));
  line.close(']');
}

void memory_curve::write(json_line& line) const {
  if (looks_ == 0) {
    line.null();
    return;
  }
  line.open('{').field("looks", looks_).field("cost_ns", counts_.cost_ns() + glances_.cost_ns());
  line.field("peak_kib", peak_.proportional_kib);
  line.field("peak_at_ms", peak_.at_ns / millisecond_ns);
  line.field("most_unmapped_kib", most_unmapped_kib_);
  line.field("last_kib", last_.proportional_kib);
  line.field("last_at_ms", last_.at_ns / millisecond_ns);
  const auto column = [&](const char* name, auto tree_memory::* member) {
    write_column(line, name, [member](const tree_memory& moment) { return moment.*member; });
  };
  write_column(line, "at_ms", [](const tree_memory& seen) { return seen.at_ns / millisecond_ns; });
  column("proportional_kib", &tree_memory::proportional_kib);
  column("private_kib", &tree_memory::private_kib);
  column("shared_kib", &tree_memory::shared_kib);
  column("lazy_free_kib", &tree_memory::lazy_free_kib);
  column("swap_kib", &tree_memory::swap_kib);
  column("processes", &tree_memory::processes);
  column("unread", &tree_memory::unread);
  column("counted", &tree_memory::counted);
  line.close('}');
}

} // namespace heapwise::bench
