// A recorded program's allocations, played to each allocator: `heapwise replay FILE`.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "harness/mapped_array.hpp"
#include "harness/resident.hpp"
#include "kernel/pause.hpp"
#include "player/script.hpp"

namespace {

using namespace heapwise::bench;

constexpr const char* script_variable = "HEAPWISE_SCRIPT";

/// A script in memory, all pages present, so that no page of it counts as the allocator's.
class script {
 public:
  /// Not known if there is none that can be read. Without a path, an example.
  explicit script(const char* path) noexcept {
    if (path == nullptr) {
      make_example();
      return;
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat about{};
    fstat(file, &about);
    bytes_ = static_cast<std::size_t>(about.st_size);
    void* found = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    close(file);
    if (found == MAP_FAILED || !take(static_cast<const std::byte*>(found))) bytes_ = 0;
  }

  [[nodiscard]] bool known() const noexcept { return bytes_ != 0; }
  [[nodiscard]] const script_header& header() const noexcept { return *header_; }
  [[nodiscard]] std::span<const thread_part> threads() const noexcept {
    return {parts_, header_->threads};
  }
  [[nodiscard]] std::span<const step> steps(const thread_part& part) const noexcept {
    return {steps_ + part.first, part.count};
  }

 private:
  bool take(const std::byte* at) noexcept {
    if (bytes_ < sizeof *header_) return false;
    header_ = reinterpret_cast<const script_header*>(at);
    parts_ = reinterpret_cast<const thread_part*>(at + sizeof *header_);
    steps_ = reinterpret_cast<const step*>(parts_ + header_->threads);
    return header_->magic == script_magic && bytes_ == sizeof *header_ +
                                                           header_->threads * sizeof *parts_ +
                                                           header_->steps * sizeof *steps_;
  }

  /// Blocks of many sizes on one thread, up and down again: what `heapwise run` plays.
  void make_example() noexcept {
    constexpr std::uint64_t blocks = 5000;
    constexpr std::uint64_t sizes = 1000;
    bytes_ = sizeof(script_header) + sizeof(thread_part) + 2 * blocks * sizeof(step);
    void* made = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (made == MAP_FAILED) {
      bytes_ = 0;
      return;
    }
    auto* header =
        new (made) script_header{script_magic, 1, 2 * blocks, 0, 2 * blocks, blocks, 0, 0, 0};
    auto* part = new (header + 1) thread_part{0, 2 * blocks, blocks};
    auto* next = reinterpret_cast<step*>(part + 1);
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const std::uint64_t size = i * 37 % sizes;
      header->bytes += size;
      new (next++) step{step::pack(step_kind::malloc, false, false, 0, size), i, 0};
    }
    for (std::uint32_t i = blocks; i-- > 0;) {
      new (next++) step{step::pack(step_kind::free, false, false, 0, 0), i, 0};
    }
    if (!take(static_cast<const std::byte*>(made))) bytes_ = 0;
  }

  std::size_t bytes_ = 0;
  const script_header* header_ = nullptr;
  const thread_part* parts_ = nullptr;
  const step* steps_ = nullptr;
};

struct schedule {
  bool exact = false; ///< steps of all threads in the recorded order
  bool paced = false; ///< with the recorded gaps of a millisecond and more
  bool touches = true;
};

using slot = std::atomic<void*>;

/// One thread of the replay.
struct player {
  const script* plays;
  const thread_part* part;
  std::span<player> all;
  schedule how;
  slot* local;
  slot* shared;
  std::atomic<std::uint64_t>* turn;
  pthread_t thread{};
  bool started = false;
  std::uint64_t calls = 0;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failed = 0;

  void run() noexcept;

 private:
  [[nodiscard]] slot& slot_of(std::uint32_t number, bool is_shared) const noexcept {
    return is_shared ? shared[number] : local[number];
  }
  [[nodiscard]] void* taken(const step& next) const noexcept;
  void keep(slot& where, void* block, const step& next, bool is_shared) noexcept;
  void touch_block(void* block, std::uint64_t size, std::uint32_t pages) const noexcept;
  void* allocate(const step& next);
  void release(const step& next, void* block) noexcept;
  void start(std::uint32_t number) noexcept;
  void wait_for_turn(std::uint64_t wanted) const noexcept;
};

void wait_a_little(unsigned turn) noexcept {
  constexpr unsigned spins = 200;
  turn < spins ? heapwise::bench::pause() : static_cast<void>(sched_yield());
}

/// Waits for a block that another thread makes.
void* player::taken(const step& next) const noexcept {
  slot& where = slot_of(next.slot, next.shared());
  if (!next.shared()) return where.load(std::memory_order_relaxed);
  // acquire: with the release of keep(), as a program's own hand-over would.
  void* block = where.load(std::memory_order_acquire);
  for (unsigned turns = 0; block == nullptr; ++turns) {
    wait_a_little(turns);
    block = where.load(std::memory_order_acquire);
  }
  return block;
}

void player::keep(slot& where, void* block, const step& next, bool is_shared) noexcept {
  ++calls;
  ++blocks;
  bytes += next.size();
  if (block == nullptr) ++failed;
  // release: with taken(). A block of this thread alone needs no order.
  where.store(block, is_shared ? std::memory_order_release : std::memory_order_relaxed);
}

/// Writes to each cache line of a small block, and to as many pages of a large one as were resident
/// when it was freed.
void player::touch_block(void* block, std::uint64_t size, std::uint32_t pages) const noexcept {
  if (!how.touches || block == nullptr) return;
  constexpr std::uint64_t line = 64;
  constexpr std::uint64_t page = 4096;
  auto* at = static_cast<volatile unsigned char*>(block);
  const std::uint64_t end = pages == 0 ? size : std::min(size, (pages - 1) * page);
  const std::uint64_t stride = pages == 0 && size < 65536 ? line : page;
  for (std::uint64_t i = 0; i < end; i += stride) at[i] = 1;
}

void* player::allocate(const step& next) {
  const auto size = static_cast<std::size_t>(next.size());
  const auto alignment = static_cast<std::size_t>(next.alignment());
  switch (next.kind()) {
    case step_kind::calloc:
      return std::calloc(1, size);
    case step_kind::aligned: {
      void* block = nullptr;
      return posix_memalign(&block, std::max(alignment, sizeof(void*)), size) == 0 ? block
                                                                                   : nullptr;
    }
    case step_kind::scalar_new:
      return alignment > 1 ? ::operator new(size, std::align_val_t{alignment}, std::nothrow)
                           : ::operator new(size, std::nothrow);
    case step_kind::array_new:
      return alignment > 1 ? ::operator new[](size, std::align_val_t{alignment}, std::nothrow)
                           : ::operator new[](size, std::nothrow);
    default:
      return std::malloc(size);
  }
}

void player::release(const step& next, void* block) noexcept {
  const std::align_val_t alignment{static_cast<std::size_t>(next.alignment())};
  const bool aligned = next.alignment() > 1;
  if (next.kind() == step_kind::free) {
    std::free(block);
  } else if (next.kind() == step_kind::scalar_delete) {
    aligned ? ::operator delete(block, alignment) : ::operator delete(block);
  } else {
    aligned ? ::operator delete[](block, alignment) : ::operator delete[](block);
  }
}

void* run_player(void* argument) {
  static_cast<player*>(argument)->run();
  return nullptr;
}

void player::start(std::uint32_t number) noexcept {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::size_t{256} * 1024);
  player& other = all[number];
  other.started = pthread_create(&other.thread, &small, run_player, &other) == 0;
  pthread_attr_destroy(&small);
  if (!other.started) std::abort(); // the other threads would wait for its blocks for ever
}

void player::wait_for_turn(std::uint64_t wanted) const noexcept {
  // acquire: with the release of the thread that passed the turn on.
  for (unsigned turns = 0; turn->load(std::memory_order_acquire) != wanted; ++turns) {
    wait_a_little(turns);
  }
}

void sleep_for(std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec pause{static_cast<time_t>(nanoseconds / second),
                       static_cast<long>(nanoseconds % second)};
  nanosleep(&pause, nullptr);
}

void player::run() noexcept {
  for (const step& next : plays->steps(*part)) {
    switch (next.kind()) {
      case step_kind::malloc:
      case step_kind::calloc:
      case step_kind::aligned:
      case step_kind::scalar_new:
      case step_kind::array_new: {
        void* block = allocate(next);
        touch_block(block, next.size(), next.target);
        keep(slot_of(next.slot, next.shared()), block, next, next.shared());
        break;
      }
      case step_kind::free:
      case step_kind::scalar_delete:
      case step_kind::array_delete:
        ++calls;
        release(next, taken(next));
        break;
      case step_kind::resize: {
        void* block = std::realloc(taken(next), static_cast<std::size_t>(next.size()));
        keep(slot_of(next.target, next.target_shared()), block, next, next.target_shared());
        break;
      }
      case step_kind::usable_size:
        escape(reinterpret_cast<void*>(malloc_usable_size(taken(next))));
        break;
      case step_kind::start:
        start(next.slot);
        break;
      case step_kind::turn:
        if (how.exact) wait_for_turn(next.size());
        break;
      case step_kind::pass:
        // release: with the acquire of the thread whose turn it is.
        if (how.exact) turn->store(next.size(), std::memory_order_release);
        break;
      case step_kind::sleep:
        if (how.paced) sleep_for(next.size());
        break;
    }
  }
}

void measure(cell& given) {
  const script plays{std::getenv(script_variable)};
  if (!plays.known()) given.refuse("script", "the file of HEAPWISE_SCRIPT is not a script");
  const script_header& wanted = plays.header();
  const std::string_view name = given.text("schedule");
  const schedule how{name != "fast", name == "paced", given.text("touch") == "line"};
  std::uint64_t local_slots = 0;
  for (const thread_part& part : plays.threads()) local_slots += part.slots;
  given.each_repeat([&](sample& one) {
    const mapped_array<slot> local{local_slots};
    const mapped_array<slot> shared{wanted.shared_slots};
    const mapped_array<player> players{wanted.threads};
    std::atomic<std::uint64_t> turn{0};
    std::uint64_t next_slot = 0;
    for (std::size_t i = 0; i < players.size(); ++i) {
      const thread_part& part = plays.threads()[i];
      players[i] = player{.plays = &plays,
                          .part = &part,
                          .all = players.span(),
                          .how = how,
                          .local = local.data() + next_slot,
                          .shared = shared.data(),
                          .turn = &turn};
      next_slot += part.slots;
    }
    resident_meter resident;
    one.time("time", wanted.calls, [&] {
      players[0].run();
      for (player& each : players) {
        if (each.started) pthread_join(each.thread, nullptr);
      }
    });
    one.set_processor_time(wanted.calls);
    one.set("peak_memory", static_cast<double>(resident.peak()));
    given.expect_calls(wanted.blocks);
    std::uint64_t calls = 0;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t failed = 0;
    for (const player& each : players) {
      calls += each.calls;
      blocks += each.blocks;
      bytes += each.bytes;
      failed += each.failed;
    }
    given.check(
        "work",
        calls == wanted.calls && blocks == wanted.blocks && bytes == wanted.bytes && failed == 0,
        "%llu of %llu calls, %llu of %llu blocks, %llu of %llu bytes, %llu failed",
        static_cast<unsigned long long>(calls), static_cast<unsigned long long>(wanted.calls),
        static_cast<unsigned long long>(blocks), static_cast<unsigned long long>(wanted.blocks),
        static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(wanted.bytes),
        static_cast<unsigned long long>(failed));
  });
}

const experiment question{
    .id = "trace/replay",
    .question = "What do the allocations of a recorded program cost under each allocator?",
    .isolates =
        "The allocator: the same calls with the same sizes by as many threads, recorded by "
        "`heapwise record`. A block that another thread frees is handed over by one store and one "
        "load. New blocks are written to: each cache line of small ones, and of large ones as many "
        "pages as the program had touched.",
    .not_shown =
        "What the program computes between the calls, and so what the caches hold then: the ratio "
        "of two replays is not the ratio of two runs of the program. `heapwise compare` has that. "
        "An allocator that gives memory back after some time does so only in the schedule `paced`. "
        "Without a trace it plays an example of 5,000 blocks, which says nothing about a program.",
    .parameters = {{"schedule",
                    "fast: threads run freely; order: exactly as recorded; paced: with gaps",
                    {"fast", "order"},
                    {"order"},
                    "",
                    1,
                    {"fast", "order", "paced"}},
                   {"touch",
                    "line: blocks are written to; none: only the allocator touches memory",
                    {"line"},
                    {"line"},
                    "",
                    1,
                    {"line", "none"}}},
    .quantities = {{"time", "ns/op", better::lower, "wall time over all calls"},
                   processor_time,
                   {"peak_memory", "bytes", better::lower, "resident memory above the start"}},
    .subjects = {{"malloc", "malloc and free", measure, "", subject_kind::malloc}},
    .baseline = "malloc",
    .repeats = 1,
    .dropped_repeats = 0,
    .answers = {{.quantity = "time"}, {.quantity = "peak_memory"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
