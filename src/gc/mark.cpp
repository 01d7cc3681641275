#include "gc/mark.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "gc/marker.hpp"
#include "gc/state.hpp"
#include "os/mutex.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

constexpr std::size_t piece_bytes = std::size_t{32} << 10; // of roots and long blocks, at once
constexpr std::size_t most_shared = 256;                   // blocks given away and not yet taken

/// Data that markers share. The lock protects all of it except for the atomic members.
struct shared_work {
  os::mutex lock;
  page_list<root>* ranges = nullptr;
  std::array<grey, most_shared> blocks;
  std::size_t block_count = 0;
  std::size_t active = 0; // markers in this round
  bool over = true;       // late markers stay out
  map where;
  std::atomic<std::size_t> hungry{0};    // those of them that have nothing to do
  std::atomic<bool> given{false};        // there are blocks: a hint, exact under the lock
  std::atomic<std::uint32_t> version{0}; // changes when there may be something to do
  std::atomic<std::uint32_t> round{0};
  std::atomic<std::uint32_t> left{0}; // changes when a marker leaves the round
};

constinit shared_work work;
constinit std::array<marker, most_markers> markers;
constinit std::size_t marker_count = 0;
constinit std::atomic<std::size_t> helpers{0}; // that were started
constinit std::atomic<std::size_t> next_helper{0};
constinit bool interior_everywhere = false;
constinit std::size_t stack_limit = 0;

void announce_work() noexcept {
  // Release: a marker that acquires the version finds the work that was added before.
  work.version.fetch_add(1, std::memory_order_release);
  if (work.hungry.load(std::memory_order_relaxed) > 0) os::wake_all(work.version);
}

/// Effects: gives half of what is on the stack to those who have nothing.
HEAPWISE_COLD void share(mark_stack& stack) noexcept {
  {
    const std::lock_guard hold{work.lock};
    const std::size_t wanted = std::min(stack.size() / 2, most_shared - work.block_count);
    work.block_count += stack.take_oldest(work.blocks.data() + work.block_count, wanted);
    work.given.store(work.block_count > 0, std::memory_order_relaxed);
  }
  announce_work();
}

template <bool Shared, bool Interior>
class worker {
 public:
  explicit worker(marker& self) noexcept : self_{self} {}

  void run() noexcept {
    do {
      drain();
    } while (get_more());
  }

  void drain() noexcept {
    self_.template drain<Shared, Interior>(
        [] {
          return work.hungry.load(std::memory_order_relaxed) > 0 &&
                 !work.given.load(std::memory_order_relaxed);
        },
        [](mark_stack& stack) { share(stack); }, [this](const void* block) { scan_long(block); });
  }

 private:
  /// A large block becomes a range like those of the roots: everybody takes pieces of it.
  HEAPWISE_NOINLINE HEAPWISE_READS_ANYTHING void scan_long(const void* block) noexcept {
    const auto* const begin = static_cast<const std::byte*>(block);
    const slice_record& record =
        work.where
            .records[(reinterpret_cast<std::uintptr_t>(block) - work.where.base) / slice_bytes];
    bool kept = false;
    if (record.bytes > piece_bytes * 2) {
      const std::lock_guard hold{work.lock};
      kept = work.ranges->add({{begin, begin + record.bytes}, false});
    }
    if (!kept) self_.template scan<Interior>(begin, begin + record.bytes);
    if (kept && Shared) announce_work();
  }

  /// Effects: takes blocks, or a piece of a range. Returns: false when there is nothing left at
  /// all.
  [[nodiscard]] bool get_more() noexcept {
    std::unique_lock hold{work.lock};
    for (;;) {
      if (work.block_count > 0) {
        take_blocks();
        return true;
      }
      if (work.ranges->size() > 0) {
        const root piece = take_piece();
        hold.unlock();
        scan(piece);
        return true;
      }
      if (!Shared || !wait_for_more(hold)) return false;
    }
  }

  /// Requires: the lock.
  void take_blocks() noexcept {
    std::size_t count = (work.block_count + 1) / 2;
    for (; count > 0; --count) {
      if (!self_.stack().push(work.blocks[work.block_count - 1])) break;
      --work.block_count;
    }
    work.given.store(work.block_count > 0, std::memory_order_relaxed);
  }

  /// Requires: the lock.
  [[nodiscard]] static root take_piece() noexcept {
    root& from = work.ranges->last();
    root piece = from;
    const auto* const begin = static_cast<const std::byte*>(from.range.begin);
    const auto* const end = static_cast<const std::byte*>(from.range.end);
    if (static_cast<std::size_t>(end - begin) > piece_bytes) {
      piece.range.end = from.range.begin = begin + piece_bytes;
    } else {
      work.ranges->remove_last();
    }
    return piece;
  }

  HEAPWISE_READS_ANYTHING void scan(const root& piece) noexcept {
    if (piece.on_stack) {
      self_.scan_stack(piece.range.begin, piece.range.end);
    } else {
      self_.template scan<Interior>(piece.range.begin, piece.range.end);
    }
  }

  /// Returns: whether it makes sense to look again. Requires: the lock, which it lets go meanwhile.
  [[nodiscard]] static bool wait_for_more(std::unique_lock<os::mutex>& hold) noexcept {
    const std::size_t hungry = work.hungry.load(std::memory_order_relaxed) + 1;
    work.hungry.store(hungry, std::memory_order_relaxed);
    if (hungry == work.active) {
      work.over = true;
      announce_work();
      return false;
    }
    const auto nothing = [] {
      return !work.over && work.block_count == 0 && work.ranges->size() == 0;
    };
    while (nothing()) {
      // Pairs with the release in announce_work.
      const std::uint32_t version = work.version.load(std::memory_order_acquire);
      hold.unlock();
      constexpr int most_looks = 1000; // some microseconds: sleeping and waking takes longer
      for (int look = 0; look < most_looks; ++look) {
        if (work.version.load(std::memory_order_relaxed) != version) break;
        os::pause();
      }
      os::wait(work.version, version, 1);
      hold.lock();
    }
    if (work.over) return false;
    work.hungry.store(work.hungry.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return true;
  }

  marker& self_;
};

template <bool Shared>
void run_marker(marker& self) noexcept {
  if (interior_everywhere) {
    worker<Shared, true>{self}.run();
  } else {
    worker<Shared, false>{self}.run();
  }
}

/// A thread that helps in every round, if it comes in time.
void help() noexcept {
  marker& self = markers[1 + next_helper.fetch_add(1, std::memory_order_relaxed)];
  std::uint32_t seen = 0;
  for (;;) {
    os::wait(work.round, seen, 0);
    // Pairs with the release that begins a round: its roots are seen.
    const std::uint32_t round = work.round.load(std::memory_order_acquire);
    if (round == seen) continue;
    seen = round;
    {
      const std::lock_guard hold{work.lock};
      if (work.over) continue;
      ++work.active;
    }
    run_marker<true>(self);
    self.end();
    {
      const std::lock_guard hold{work.lock};
      --work.active;
      work.hungry.store(work.hungry.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    // Release: the thread that waits for the helpers sees all that this one marked.
    work.left.fetch_add(1, std::memory_order_release);
    os::wake_all(work.left);
  }
}

void wait_for_helpers() noexcept {
  for (;;) {
    // Pairs with the release at the end of help().
    const std::uint32_t left = work.left.load(std::memory_order_acquire);
    {
      const std::lock_guard hold{work.lock};
      if (work.active == 1) return;
    }
    os::wait(work.left, left, 1);
  }
}

/// Effects: looks through every marked block once more, for what was marked and not noted down.
template <bool Interior>
HEAPWISE_READS_ANYTHING void look_again(marker& self, const map& where) noexcept {
  worker<false, Interior> work_off{self};
  for (std::size_t slice = 0; slice < where.extent / slice_bytes; ++slice) {
    const kind block_kind = where.kinds[slice].load(std::memory_order_relaxed);
    const mark* const marks = where.marks + slice * marks_of_slice;
    const auto* const begin = reinterpret_cast<const std::byte*>(where.base) + slice * slice_bytes;
    if (block_kind == large && marks[0].load(std::memory_order_relaxed) != 0) {
      self.scan<Interior>(begin, begin + where.records[slice].bytes);
    } else if (block_kind == large_typed && marks[0].load(std::memory_order_relaxed) != 0) {
      self.scan_typed<Interior>(begin, block_kind);
    }
    if (block_kind == no_kind || block_kind >= small_kinds || kind_table[block_kind].atomic) {
      work_off.run();
      continue;
    }
    const kind_facts& facts = kind_table[block_kind];
    for (std::uint32_t block = 0; block < facts.blocks; ++block) {
      if (marks[block].load(std::memory_order_relaxed) == 0) continue;
      const std::byte* const at = begin + std::size_t{block} * facts.bytes;
      if (is_typed(block_kind)) {
        self.scan_typed<Interior>(at, block_kind);
      } else {
        self.scan<Interior>(at, at + facts.bytes);
      }
      work_off.run();
    }
  }
}

/// Returns: whether a marker had no room since this was asked last.
bool somebody_overflowed() noexcept {
  bool overflowed = false;
  for (std::size_t each = 0; each < marker_count; ++each) {
    overflowed = overflowed || markers[each].overflowed();
    markers[each].forget_overflow();
  }
  return overflowed;
}

} // namespace

bool start_markers(std::size_t count, std::size_t stack_bytes, bool interior) noexcept {
  marker_count = std::min(std::max<std::size_t>(count, 1), most_markers);
  stack_limit = stack_bytes;
  interior_everywhere = interior;
  return markers[0].start(stack_bytes);
}

void end_markers() noexcept { markers[0].give_back(); }

void start_helpers() noexcept {
  while (helpers.load(std::memory_order_relaxed) + 1 < marker_count) {
    // Before the thread: it may be quick. One that could not be started is asked for again.
    if (!markers[1 + helpers.load(std::memory_order_relaxed)].start(stack_limit)) return;
    if (!os::start_thread(help)) return;
    helpers.fetch_add(1, std::memory_order_relaxed);
  }
}

bool mark_from(page_list<root>& roots, const map& where, bool worth_help) noexcept {
  const bool shared = worth_help && marker_count > 1;
  marker& self = markers[0];
  {
    const std::lock_guard hold{work.lock};
    std::for_each(markers.begin(), markers.begin() + marker_count,
                  [&](marker& each) { each.begin(where); });
    work.ranges = &roots;
    work.where = where;
    work.active = 1;
    work.hungry.store(0, std::memory_order_relaxed);
    work.over = !shared;
  }
  if (shared) {
    // Release: helpers acquire the round, and see what was set up for it.
    work.round.fetch_add(1, std::memory_order_release);
    os::wake_all(work.round);
    run_marker<true>(self);
    wait_for_helpers();
  } else {
    run_marker<false>(self);
  }
  bool overflowed = false;
  while (somebody_overflowed()) {
    overflowed = true;
    interior_everywhere ? look_again<true>(self, where) : look_again<false>(self, where);
  }
  self.end();
  return overflowed;
}

void mark_named_by(const found_block& block) noexcept {
  marker& self = markers[0];
  self.begin(the_gc.memory.what_is_where());
  call_function(*layout_of(block), block.begin, self);
  self.settle_marks();
}

void hold_helpers() noexcept { work.lock.lock(); }
void release_helpers() noexcept { work.lock.unlock(); }

void forget_helpers() noexcept {
  helpers.store(0, std::memory_order_relaxed);
  next_helper.store(0, std::memory_order_relaxed);
}

} // namespace heapwise::gc
