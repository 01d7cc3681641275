#include "heap/base/sharing.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include "options/text.hpp"

namespace heapwise::detail {

constinit std::array<line_counts, shared_kinds> the_line_counts{};

namespace {

constinit std::atomic<counted_lock*> first_lock{nullptr};

constexpr std::array<std::string_view, shared_kinds> place_names{
    "bin",         "mixed",       "space",       "purging",
    "idle_caches", "batches",     "large_stock", "large_quarantine",
    "batch",       "span_record", "bin_figures", "large_figures"};

// A shorter hold is hardly ever interrupted, and asking costs a call of the system.
constexpr std::uint64_t worth_asking_ns = 2000;

} // namespace

const counted_lock* counted_lock::first() noexcept {
  // Acquire: pairs with the release of the lock that put itself in front. Its members were written.
  return first_lock.load(std::memory_order_acquire);
}

void counted_lock::lock() noexcept {
  const long switches = os::switches();
  const bool waited = !mutex_.try_lock();
  if (waited) mutex_.lock();
  begin_hold(waited, switches);
}

bool counted_lock::try_lock() noexcept {
  const long switches = os::switches();
  if (!mutex_.try_lock()) return false;
  begin_hold(false, switches);
  return true;
}

void counted_lock::begin_hold(bool waited, long switches) noexcept {
  if (counts_.acquisitions++ == 0) {
    next_ = first_lock.load(std::memory_order_relaxed);
    // Release: pairs with the acquire in first(), which then sees the next one.
    while (!first_lock.compare_exchange_weak(next_, this, std::memory_order_release,
                                             std::memory_order_relaxed)) {
    }
  }
  counts_.contended += waited ? 1 : 0;
  counts_.handovers += holder_.take_over() ? 1 : 0;
  switches_ = switches;
  since_ns_ = os::now_ns();
}

void counted_lock::unlock() noexcept {
  const std::uint64_t held_ns = os::now_ns() - since_ns_;
  if (held_ns > worth_asking_ns && os::switches() != switches_) {
    ++counts_.interrupted;
  } else {
    counts_.hold_ns += held_ns;
    counts_.longest_ns = std::max(counts_.longest_ns, held_ns);
    ++counts_.holds[std::min<std::size_t>(std::bit_width(held_ns), hold_classes - 1)];
  }
  mutex_.unlock();
}

namespace {

void add(counted_lock::figures& sum, const counted_lock::figures& more) noexcept {
  sum.acquisitions += more.acquisitions;
  sum.contended += more.contended;
  sum.handovers += more.handovers;
  sum.hold_ns += more.hold_ns;
  sum.longest_ns = std::max(sum.longest_ns, more.longest_ns);
  sum.interrupted += more.interrupted;
  for (std::size_t each = 0; each < sum.holds.size(); ++each) sum.holds[each] += more.holds[each];
}

/// Returns: what 99 of 100 holds did not exceed, up to a factor of two.
std::uint64_t usual_hold_ns(const counted_lock::figures& of_lock) noexcept {
  std::uint64_t left = of_lock.acquisitions / 100;
  for (std::size_t each = of_lock.holds.size(); each-- > 0;) {
    if (of_lock.holds[each] > left) return std::uint64_t{1} << each;
    left -= of_lock.holds[each];
  }
  return 0;
}

void write_locks(shared kind) noexcept {
  std::size_t locks = 0;
  counted_lock::figures all;
  counted_lock::figures busiest;
  for (const counted_lock* each = counted_lock::first(); each != nullptr; each = each->next()) {
    if (each->kind() != kind) continue;
    ++locks;
    add(all, each->counts());
    if (each->counts().hold_ns > busiest.hold_ns) busiest = each->counts();
  }
  if (locks == 0) return;
  text line;
  line.add("sharing lock ").add(place_names[static_cast<std::size_t>(kind)]);
  line.add(" locks=").add(locks);
  line.add(" acquisitions=").add(all.acquisitions);
  line.add(" contended=").add(all.contended);
  line.add(" handovers=").add(all.handovers);
  line.add(" hold_ns=").add(all.hold_ns);
  line.add(" p99_hold_ns=").add(usual_hold_ns(all));
  line.add(" longest_ns=").add(all.longest_ns);
  line.add(" interrupted=").add(all.interrupted);
  line.add(" busiest_acquisitions=").add(busiest.acquisitions);
  line.add(" busiest_handovers=").add(busiest.handovers);
  line.add(" busiest_hold_ns=").add(busiest.hold_ns);
  line.add("\n");
  line.write();
}

void write_lines(shared kind) noexcept {
  const line_counts& counts = the_line_counts[static_cast<std::size_t>(kind)];
  const std::uint64_t writes = counts.writes.load(std::memory_order_relaxed);
  if (writes == 0) return;
  text line;
  line.add("sharing line ").add(place_names[static_cast<std::size_t>(kind)]);
  line.add(" writes=").add(writes);
  line.add(" handovers=").add(counts.handovers.load(std::memory_order_relaxed)).add("\n");
  line.write();
}

} // namespace

void write_sharing() noexcept {
  text line;
  line.add("sharing clock now_ns=").add(os::clock_cost_ns()).add("\n");
  line.write();
  for (std::size_t each = 0; each < shared_kinds; ++each) {
    write_locks(static_cast<shared>(each));
    write_lines(static_cast<shared>(each));
  }
}

} // namespace heapwise::detail
