// Locks under little and more work, alone and fought for.
//
// build: with_sanitizers
// optional: TBB = package TBB target TBB::tbb
#include <mutex>

#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "sources/contest.hpp"
#include "sources/locks.hpp"

#if defined(HEAPWISE_HAS_TBB)
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#endif

namespace {

using namespace heapwise::bench;
using namespace concurrency;

/// A step of a linear congruential generator (Knuth's constants): each waits for the last, and
/// where n steps lead can be computed without making them.
struct step_map {
  std::uint64_t factor = 6364136223846793005U;
  std::uint64_t summand = 1442695040888963407U;

  [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t state) const noexcept {
    return state * factor + summand;
  }
  /// First this, then `later`.
  [[nodiscard]] constexpr step_map then(const step_map& later) const noexcept {
    return {later.factor * factor, later.factor * summand + later.summand};
  }
};

constexpr std::uint64_t first_state = 1;

/// Where `steps` of them lead to from the first state, in log2(steps) turns.
constexpr std::uint64_t state_after(std::uint64_t steps) noexcept {
  step_map done{1, 0};
  step_map power;
  for (; steps != 0; steps >>= 1) {
    if ((steps & 1) != 0) done = done.then(power);
    power = power.then(power);
  }
  return done(first_state);
}

static_assert(state_after(2) == step_map{}(step_map{}(first_state)));

/// What the lock guards. Two threads in it at once lose steps, and the state says so.
struct alignas(64) guarded {
  std::uint64_t state = first_state;

  [[gnu::always_inline]] void work(std::uint64_t steps) noexcept {
    for (std::uint64_t i = 0; i < steps; ++i) state = step_map{}(state);
  }
};

struct standard_mutex {
  std::mutex lock;

  explicit standard_mutex(patience) {}
  auto hold() {
    return [this](auto&& work) {
      const std::scoped_lock held{lock};
      work();
    };
  }
};

template <class Lock>
struct simple_lock {
  Lock lock;

  explicit simple_lock(patience looks) : lock{looks} {}
  auto hold() {
    return [this](auto&& work) {
      lock.lock();
      work();
      lock.unlock();
    };
  }
};

struct queue_lock {
  mcs_lock lock;

  explicit queue_lock(patience looks) : lock{looks} {}
  auto hold() {
    return [this](auto&& work) {
      mcs_lock::place mine;
      lock.lock(mine);
      work();
      lock.unlock(mine);
    };
  }
};

#if defined(HEAPWISE_HAS_TBB)
template <class Mutex>
struct tbb_lock {
  Mutex lock;

  explicit tbb_lock(patience) {}
  auto hold() {
    return [this](auto&& work) {
      const typename Mutex::scoped_lock held{lock};
      work();
    };
  }
};
#endif

template <class Lock>
void measure(cell& the_cell) {
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  const auto work = static_cast<std::uint64_t>(the_cell.integer("work"));
  const processors where{the_cell, 1};
  the_cell.each_repeat([&](sample& the_sample) {
    Lock lock{patience_of(threads, where.count())};
    guarded shared;
    escape(&shared);
    const contest_result done = run_contest(the_cell, the_sample, where, threads, [&](int) {
      return [hold = lock.hold(), &shared, work] { hold([&] { shared.work(work); }); };
    });
    the_sample.set("throughput", done.throughput());
    the_cell.check("work", shared.state == state_after(done.steps * work),
                   "after {} holds the guarded state is {}", done.steps,
                   shared.state == state_after(done.steps * work) ? "as computed" : "wrong");
  });
}

/// The work alone: each thread has a state of its own and no lock.
void measure_no_lock(cell& the_cell) {
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  const auto work = static_cast<std::uint64_t>(the_cell.integer("work"));
  const processors where{the_cell, 1};
  the_cell.each_repeat([&](sample& the_sample) {
    const contest_result done = run_contest(the_cell, the_sample, where, threads, [&](int) {
      return [own = guarded{}, work]() mutable {
        own.work(work);
        escape(&own);
      };
    });
    the_sample.set("throughput", done.throughput());
    the_cell.check("work", done.steps != 0, "{} turns without a lock", done.steps);
  });
}

std::vector<subject> subjects() {
  std::vector<subject> all{
      {"mutex", "std::mutex", measure<standard_mutex>},
      {"spin", "test and test-and-set", measure<simple_lock<spin_lock>>},
      {"ticket", "ticket lock: first come, first served", measure<simple_lock<ticket_lock>>},
      {"mcs", "MCS lock: a queue of waiters", measure<queue_lock>},
  };
#if defined(HEAPWISE_HAS_TBB)
  all.push_back({"tbb_spin", "oneTBB spin_mutex", measure<tbb_lock<tbb::spin_mutex>>});
  all.push_back({"tbb_queuing", "oneTBB queuing_mutex", measure<tbb_lock<tbb::queuing_mutex>>});
#else
  constexpr const char* missing = "no oneTBB here: install libtbb-dev and build again";
  all.push_back({"tbb_spin", "oneTBB spin_mutex", nullptr, missing});
  all.push_back({"tbb_queuing", "oneTBB queuing_mutex", nullptr, missing});
#endif
  all.push_back({"no_lock", "the work alone, a state for each thread", measure_no_lock});
  return all;
}

const experiment question{
    .id = "concurrency/lock_variants",
    .question = "Which lock is cheapest, held briefly or longer, alone or fought for?",
    .isolates =
        "The lock: the work inside is a chain of dependent steps on one guarded word, each thread "
        "is kept on a processor, in turn where there are more threads.",
    .not_shown =
        "Fairness: mutex and spin let a thread take the lock again and again while others wait; "
        "ticket, mcs and tbb_queuing hand it on in order and pay for the line's way each time. "
        "Two threads are what two processors can fight with. Four on two also hold the scheduler: "
        "the thread that waits in order may be the one that does not run, so that every waiting "
        "loop of "
        "ours gives the processor away after 64 looks (with fewer threads never); without that "
        "these locks would stand still for whole time slices. The four threads of the report "
        "latency-lab had eight cores, and no need to.",
    .parameters = {{"work", "dependent steps while the lock is held", {1, 32}, {1}},
                   {"threads", "threads at once", {1, 2, 4}, {1, 4}},
                   duration(6)},
    .quantities = {throughput("times that a thread held the lock"), processor_time},
    .subjects = subjects(),
    .baseline = "mutex",
    .expectations = {{.says = "alone, a spin lock is at least as fast as a mutex",
                      .quantity = "throughput",
                      .subject = "spin",
                      .over = "mutex",
                      .parameters = {{"threads", 1}},
                      .at_least = 0.95},
                     {.says = "a lock costs something",
                      .quantity = "throughput",
                      .subject = "spin",
                      .over = "no_lock",
                      .parameters = {{"work", 1}},
                      .at_most = 1.0}},
    .answers = {{.quantity = "throughput"}},
    .yardsticks = {"no_lock"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
