// Why threads wait in a shared allocator: how often they meet at a list, and how often at carving.
#include "sources/subjects.hpp"
#include "sources/workloads.hpp"

namespace {

using namespace hybrids;

/// Asks before each free whether the block is one of the allocator's, under one lock for all
/// threads. That is what the program of the report AllocatorBench does unless it is built with
/// NDEBUG.
template <class Refill>
class checked {
 public:
  explicit checked(heapwise::strategy how) : unchecked_{how} {}

  void* allocate(std::size_t bytes) { return unchecked_.allocate(bytes); }
  void deallocate(void* block, std::size_t bytes) {
    {
      const std::scoped_lock hold{lock_};
      if (unchecked_.usable(block) == 0) return;
    }
    unchecked_.deallocate(block, bytes);
  }
  [[nodiscard]] heapwise::hybrid_statistics statistics() const {
    heapwise::hybrid_statistics all = unchecked_.statistics();
    all.refill.add_lock(lock_.taken());
    all.refill.list_waits += lock_.waited();
    return all;
  }

  static constexpr bool calls_malloc = false;

  template <std::size_t>
  using aligned_to = checked;

 private:
  ours<Refill> unchecked_;
  heapwise::detail::hybrids::counted_mutex lock_;
};

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const workload work{the_cell};
    the_cell.each_repeat([&](sample& the_sample) {
      Source source{work.how()};
      start_line all_grown{work.threads()};
      the_sample.measure_team(work.threads(), work.operations(), [&](team_member& member) {
        member.start();
        work.play(source, static_cast<std::size_t>(member.index()), all_grown);
        member.stop();
      });
      const heapwise::hybrid_statistics is = source.statistics();
      report(the_sample, is.refill, 1e6 / static_cast<double>(work.operations()));
      const std::size_t allocations = is.fixed.allocations + is.segregated.allocations;
      const std::size_t frees = is.fixed.deallocations + is.segregated.deallocations;
      the_cell.check("work", allocations == work.allocations() && frees == allocations,
                     "{} allocations of {}, {} frees", allocations, work.allocations(), frees);
    });
  }

  static void report(sample& the_sample, const heapwise::refill_counts& counts, double scale) {
    the_sample.set("locks", scale * static_cast<double>(counts.locks_taken));
    the_sample.set("busiest_lock", scale * static_cast<double>(counts.busiest_lock));
    the_sample.set("list_waits", scale * static_cast<double>(counts.list_waits));
    the_sample.set("carve_waits", scale * static_cast<double>(counts.carve_waits));
    the_sample.set("retries", scale * static_cast<double>(counts.retries));
    the_sample.set("refills", scale * static_cast<double>(counts.refills));
    the_sample.set("refills_ahead", scale * static_cast<double>(counts.refills_ahead));
  }
};

std::vector<subject> all_subjects() {
  std::vector<subject> all = strategies<measure>();
  all.push_back({"global_lock_checked", "global_lock, and each free is checked under a lock",
                 measure<checked<heapwise::refill::global_lock>>::run});
  all.push_back({"sharded_checked", "sharded, and each free is checked under a lock",
                 measure<checked<heapwise::refill::sharded>>::run});
  return all;
}

const experiment question{
    .id = "hybrid/meetings",
    .question = "Do threads wait for each other at the lists, or for fresh blocks to be carved?",
    .isolates = "What hybrid/refill plays, counted instead of timed, for a million operations.",
    .not_shown =
        "How long a wait takes. Locks and refills are the same on every machine with one thread, "
        "and nearly so with more; how many of the locks had to be waited for is the machine's and "
        "the scheduler's. The allocator is new in each repeat: what fills it up at the start is in "
        "these figures, spread over all operations. The program of the report AllocatorBench "
        "checks "
        "each freed pointer under its global lock unless it is built with NDEBUG; its Makefile "
        "does "
        "not define that. The two subjects with a check do the same to ours.",
    .parameters = parameters(),
    .quantities =
        {{"locks", "per Mop", better::lower, "locks taken, of lists and to carve"},
         {"busiest_lock", "per Mop", better::lower,
          "of them, those of the lock that was taken most: what cannot happen side by side"},
         {"list_waits", "per Mop", better::lower, "of them, a list's that another thread had"},
         {"carve_waits", "per Mop", better::lower,
          "of them, the one to carve under, where that is not the list's own"},
         {"retries", "per Mop", better::lower, "compare-and-swaps that another thread forestalled"},
         {"refills", "per Mop", better::lower, "slices carved while an allocation waited"},
         {"refills_ahead", "per Mop", better::lower, "slices carved before they were needed"}},
    .subjects = all_subjects(),
    .baseline = "global_lock",
    .repeats = 3,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
