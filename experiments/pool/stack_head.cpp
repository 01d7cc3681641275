// The head of a lock-free stack: which word recognises a change that was undone?
#include <atomic>
#include <cstdint>
#include <mutex>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"

namespace {

using namespace heapwise::bench;

struct alignas(64) node {
  std::atomic<std::uint64_t> next{0};
};

/// Index of the top node and count of changes in one 8-byte word: what heapwise::lock_free uses.
class index_and_count {
 public:
  explicit index_and_count(const mapped_array<node>& nodes) : nodes_{&nodes} {}

  void push(std::uint64_t index) noexcept {
    std::uint64_t seen = head_.load(std::memory_order_relaxed);
    do {
      (*nodes_)[index].next.store(seen & low, std::memory_order_relaxed);
    } while (!head_.compare_exchange_weak(seen, (seen | low) + 2 + index, std::memory_order_release,
                                          std::memory_order_relaxed));
  }
  bool pop(std::uint64_t& index) noexcept {
    std::uint64_t seen = head_.load(std::memory_order_acquire);
    while ((seen & low) != 0) {
      index = (seen & low) - 1;
      const std::uint64_t next = (*nodes_)[index].next.load(std::memory_order_relaxed);
      if (head_.compare_exchange_weak(seen, (seen | low) + 1 + next, std::memory_order_acquire)) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint64_t low = 0xFFFF'FFFFu;
  const mapped_array<node>* nodes_;
  alignas(64) std::atomic<std::uint64_t> head_{0};
};

/// One lock, one chain.
class locked_chain {
 public:
  explicit locked_chain(const mapped_array<node>& nodes) : nodes_{&nodes} {}

  void push(std::uint64_t index) noexcept {
    const std::scoped_lock lock{mutex_};
    (*nodes_)[index].next.store(top_, std::memory_order_relaxed);
    top_ = index + 1;
  }
  bool pop(std::uint64_t& index) noexcept {
    const std::scoped_lock lock{mutex_};
    if (top_ == 0) return false;
    index = top_ - 1;
    top_ = (*nodes_)[index].next.load(std::memory_order_relaxed);
    return true;
  }

 private:
  const mapped_array<node>* nodes_;
  alignas(64) std::mutex mutex_;
  std::uint64_t top_ = 0;
};

#if defined(__x86_64__)
#define HEAPWISE_BENCH_WIDE_HEAD 1

/// Pointer and count in two words: 64 bits of count, for a 16-byte compare-and-swap.
class pointer_and_count {
 public:
  explicit pointer_and_count(const mapped_array<node>& nodes) : nodes_{&nodes} {}

  void push(std::uint64_t index) noexcept {
    node& added = (*nodes_)[index];
    word seen = read();
    do {
      added.next.store(seen.top, std::memory_order_relaxed);
    } while (!swap(seen, {reinterpret_cast<std::uint64_t>(&added), seen.count + 1}));
  }
  bool pop(std::uint64_t& index) noexcept {
    word seen = read();
    while (seen.top != 0) {
      node* const top = reinterpret_cast<node*>(seen.top);
      index = static_cast<std::uint64_t>(top - nodes_->begin());
      if (swap(seen, {top->next.load(std::memory_order_relaxed), seen.count + 1})) return true;
    }
    return false;
  }

 private:
  struct alignas(16) word {
    std::uint64_t top;
    std::uint64_t count;
  };

  /// Two halves that need not belong together: the exchange finds out.
  word read() noexcept {
    return {std::atomic_ref{head_.top}.load(std::memory_order_acquire),
            std::atomic_ref{head_.count}.load(std::memory_order_acquire)};
  }

  /// One cmpxchg16b, written out because GCC would call a library for it.
  bool swap(word& seen, word wanted) noexcept {
    bool done = false;
    asm volatile("lock cmpxchg16b %1"
                 : "=@ccz"(done), "+m"(head_), "+a"(seen.top), "+d"(seen.count)
                 : "b"(wanted.top), "c"(wanted.count)
                 : "memory");
    return done;
  }

  const mapped_array<node>* nodes_;
  alignas(64) word head_{};
};
#endif

template <class Stack>
void measure(cell& the_cell) {
  const std::size_t count = the_cell.size("iterations");
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  const std::size_t pairs = count * static_cast<std::size_t>(threads);
  const std::size_t stock = static_cast<std::size_t>(threads) * 2;
  the_cell.each_repeat([&](sample& the_sample) {
    const mapped_array<node> nodes{stock};
    Stack stack{nodes};
    for (std::size_t i = 0; i < stock; ++i) stack.push(i);
    std::atomic<std::size_t> served{0};
    the_sample.time_team("pop_push", threads, pairs, [&](team_member& member) {
      std::size_t got = 0;
      member.start();
      for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t index = 0;
        if (!stack.pop(index)) continue;
        ++got;
        stack.push(index);
      }
      member.stop();
      served += got;
    });
    std::size_t left = 0;
    for (std::uint64_t index = 0; stack.pop(index);) ++left;
    the_cell.check("work", served == pairs && left == stock, "{} pairs of {}, {} nodes of {} left",
                   served.load(), pairs, left, stock);
  });
}

std::vector<subject> subjects() {
  std::vector<subject> all{
      {"index_and_count", "8-byte head", measure<index_and_count>},
      {"locked_chain", "std::mutex", measure<locked_chain>},
  };
#if HEAPWISE_BENCH_WIDE_HEAD
  all.push_back({"pointer_and_count", "16-byte head", measure<pointer_and_count>});
#else
  all.push_back({"pointer_and_count", "16-byte head", nullptr, "no cmpxchg16b on this machine"});
#endif
  return all;
}

const experiment question{
    .id = "pool/stack_head",
    .question = "Does a lock-free stack gain or lose by a head of 8 bytes instead of 16?",
    .isolates =
        "One head that all threads fight over: index and count in 8 bytes, pointer and count in "
        "16, and a lock.",
    .not_shown =
        "Pools: heapwise::lock_free spreads threads over several such heads (pool/concurrent). "
        "With more threads than processors the figure also holds the scheduler.",
    .parameters = {{"iterations", "pairs of each thread", {1'000'000}, {2'000}},
                   {"threads", "threads at once", {1, 2, 4, 8}, {1, 2}}},
    .quantities = {{"pop_push", "ns/op", better::lower,
                    "wall time over all pairs of pop and push"}},
    .subjects = subjects(),
    .baseline = "index_and_count",
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
