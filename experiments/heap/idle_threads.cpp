// A thousand threads that each did a little work and then wait: what the allocator keeps for them.
#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "harness/memory/mapped_array.hpp"
#include "sources/marks.hpp"
#include "sources/quantities.hpp"
#include "sources/sources.hpp"
#include "sources/thread_tapes.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::size_t tapes_in_all = 16; ///< threads with the same tape do the same work
constexpr size_mix little_work{"little_work", sizes::small_and_medium, .625, 64, 0};

/// Plays the tape; returns how many blocks bore their mark to the end.
template <class Source>
std::size_t play(const tape& plays, void** slots) {
  Source source;
  std::size_t whole = 0;
  for (const operation each : plays.operations) {
    void*& slot = slots[each.slot()];
    const unsigned char its_mark = heaps::mark_of(each.slot());
    if (each.frees()) {
      whole += heaps::is_marked(slot, each.bytes(), its_mark) ? 1 : 0;
      source.deallocate(slot, each.bytes());
    } else {
      slot = source.allocate(each.bytes());
      heaps::mark(slot, each.bytes(), its_mark);
    }
  }
  return whole;
}

/// What an allocator has for a thread that will wait; one of ours, jemalloc, mimalloc or
/// gperftools.
class idle_call {
 public:
  void operator()() const noexcept {
    if (ours_ != nullptr) {
      ours_();
    } else if (jemalloc_ != nullptr) {
      jemalloc_("thread.idle", nullptr, nullptr, nullptr, 0);
    } else if (mimalloc_ != nullptr) {
      mimalloc_(false);
    } else if (gperftools_ != nullptr) {
      gperftools_();
    }
  }

 private:
  template <class Function>
  static Function* find(const char* name) noexcept {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  }
  void (*ours_)() = find<void()>("heapwise_thread_idle");
  int (*jemalloc_)(const char*, void*, std::size_t*, void*, std::size_t) =
      find<int(const char*, void*, std::size_t*, void*, std::size_t)>("mallctl");
  void (*mimalloc_)(bool) = find<void(bool)>("mi_collect");
  void (*gperftools_)() = find<void()>("MallocExtension_MarkThreadIdle");
};

/// A thread that waits, works once when it is told to, and waits again.
class worker {
 public:
  /// False if the system allows no more threads.
  bool start(const pthread_attr_t& attributes, void (*work)(worker&), const tape& plays,
             void** slots) noexcept {
    work_ = work;
    tape_ = &plays;
    slots_ = slots;
    started_ = pthread_create(&thread_, &attributes, run, this) == 0;
    return started_;
  }

  void wait_until(int wanted) const noexcept {
    // acquire: pairs with the release of reach. What the other side did before is seen.
    for (int now = stage_.load(std::memory_order_acquire); now < wanted;
         now = stage_.load(std::memory_order_acquire)) {
      stage_.wait(now, std::memory_order_acquire);
    }
  }
  void reach(int reached) noexcept {
    stage_.store(reached, std::memory_order_release); // pairs with wait_until
    stage_.notify_all();
  }

  void join() noexcept {
    if (started_) pthread_join(thread_, nullptr);
  }

  template <class Source>
  static void play_tape(worker& self) {
    self.whole_ = play<Source>(*self.tape_, self.slots_);
  }
  [[nodiscard]] std::size_t whole() const noexcept { return whole_; }

  static void tell_idle(worker&) {
    static const idle_call tell;
    tell();
  }

  enum stage { made, waiting, may_work, worked, may_tell, told, may_end };

 private:
  static void* run(void* argument) noexcept {
    worker& self = *static_cast<worker*>(argument);
    touch_stack();
    self.reach(waiting);
    self.wait_until(may_work);
    self.work_(self);
    self.reach(worked);
    self.wait_until(may_tell);
    if (self.stage_.load(std::memory_order_acquire) == may_tell) { // pairs with reach
      tell_idle(self);
      self.reach(told);
    }
    self.wait_until(may_end);
    return nullptr;
  }

  /// The pages of the stack that calls of malloc may reach are resident before they are counted.
  [[gnu::noinline]] static void touch_stack() noexcept {
    unsigned char below[32 * 1024];
    heaps::touch_pages(below, sizeof below);
    escape(&below);
  }

  std::atomic<int> stage_{made};
  bool started_ = false;
  pthread_t thread_{};
  void (*work_)(worker&) = nullptr;
  const tape* tape_ = nullptr;
  void** slots_ = nullptr;
  std::size_t whole_ = 0;
};

/// Small stacks: none of them can lie on a huge page.
class stack_size {
 public:
  stack_size() noexcept {
    constexpr std::size_t bytes = 256 * 1024;
    pthread_attr_init(&attributes_);
    pthread_attr_setstacksize(&attributes_, bytes);
  }
  ~stack_size() { pthread_attr_destroy(&attributes_); }
  stack_size(const stack_size&) = delete;
  stack_size& operator=(const stack_size&) = delete;

  [[nodiscard]] const pthread_attr_t& attributes() const noexcept { return attributes_; }

 private:
  pthread_attr_t attributes_{};
};

/// The threads of a repeat; they end with it.
class crowd {
 public:
  explicit crowd(std::size_t threads) : workers_{threads} {}
  ~crowd() {
    for (worker& each : workers_) each.reach(worker::may_end);
    for (worker& each : workers_) each.join();
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  /// Returns when all of them wait; false if the system allows no more threads.
  bool start(void (*action)(worker&), const heaps::thread_tapes& tapes) noexcept {
    const stack_size small;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const std::size_t its_tape = i % tapes.threads();
      if (!workers_[i].start(small.attributes(), action, tapes.of(its_tape),
                             tapes.slots(its_tape))) {
        return false;
      }
      workers_[i].wait_until(worker::waiting);
    }
    return true;
  }

  /// Lets them work one after the other; returns how many blocks were whole.
  std::size_t work() noexcept {
    std::size_t whole = 0;
    for (worker& each : workers_) {
      each.reach(worker::may_work);
      each.wait_until(worker::worked);
      whole += each.whole();
    }
    return whole;
  }

  /// Lets them tell the allocator that they wait from now on.
  void tell_idle() noexcept {
    for (worker& each : workers_) {
      each.reach(worker::may_tell);
      each.wait_until(worker::told);
    }
  }

 private:
  mapped_array<worker> workers_;
};

/// At least one byte, so that there are ratios.
double bytes_each(std::uint64_t now, std::uint64_t before, std::size_t threads) noexcept {
  return std::max(1.0, heaps::ratio(now - std::min(now, before), threads));
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const std::size_t threads = the_cell.size("threads");
    const std::size_t operations = 2 * the_cell.size("allocations");
    const heaps::thread_tapes tapes{little_work, tapes_in_all, operations, the_cell.random()};
    const std::size_t allocations = threads * the_cell.size("allocations");
    resident_meter meter;
    the_cell.each_repeat([&](sample& the_sample) {
      crowd all{threads};
      if (!all.start(worker::play_tape<Source>, tapes)) {
        the_cell.refuse("threads", "the system does not allow this many threads at once");
      }
      const std::uint64_t silent = meter.now();
      std::size_t whole = 0;
      the_sample.measure(allocations, [&] { whole = all.work(); });
      const std::uint64_t at_once = meter.now();
      std::this_thread::sleep_for(std::chrono::milliseconds{the_cell.integer("wait_ms")});
      the_sample.set("per_thread_memory", bytes_each(meter.now(), silent, threads));
      the_sample.set("per_thread_memory_0s", bytes_each(at_once, silent, threads));
      all.tell_idle();
      std::this_thread::sleep_for(std::chrono::milliseconds{the_cell.integer("wait_ms")});
      the_sample.set("per_told_thread_memory", bytes_each(meter.now(), silent, threads));
      the_sample.set("silent_thread_memory", bytes_each(silent, 0, threads));
      the_cell.check("work", whole == tapes.allocations() / tapes.threads() * threads,
                     "{} whole blocks of {}", whole, allocations);
      the_cell.expect_calls(allocations);
    });
  }
};

const experiment question{
    .id = "heap/idle_threads",
    .question = "How much memory does an allocator keep for a thread that did little and waits?",
    .isolates =
        "Caches of threads: 1000 threads start and wait. One after the other, each allocates 300 "
        "blocks of 16 to 4096 bytes, at most 64 live at once, frees them all, and waits again. "
        "Counted is what is resident above the moment when all threads waited and none had "
        "worked.",
    .not_shown =
        "Threads that work at the same time, and so keep more. What an allocator keeps in common "
        "is divided by the number of threads as well. What a thread gets at its start, before it "
        "allocates, is in silent_thread_memory, which is mostly the stack: 32 KiB of it are "
        "touched, so that deeper calls do not count as memory of the allocator.",
    .parameters = {{"threads", "that wait at once", {1000}, {40}},
                   {"allocations", "of each thread, all freed again", {300}, {100}},
                   {"wait_ms", "of waiting before the memory is counted", {1000}, {20}, "ms"}},
    .quantities = {{"per_thread_memory", "bytes", better::lower,
                    "resident for each thread, after the wait, above threads that did nothing"},
                   {"per_thread_memory_0s", "bytes", better::lower,
                    "the same as soon as the last thread has worked"},
                   {"per_told_thread_memory", "bytes", better::lower,
                    "the same after each thread has told the allocator that it will wait, and "
                    "another wait: by heapwise_thread_idle, jemalloc's thread.idle, mimalloc's "
                    "mi_collect, gperftools' MarkThreadIdle; other allocators are told nothing"},
                   {"silent_thread_memory", "bytes", better::lower,
                    "resident for each thread that has allocated nothing, its stack included"}},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 1,
    .dropped_repeats = 0,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
