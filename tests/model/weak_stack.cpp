// One shard of the lock-free pool under a weak memory model: what treiber.pml checks for memory
// that all threads see alike, here for memory as C++ promises it
// (include/heapwise/thread/lock_free.hpp).
//
// The model is the view semantics of release, acquire and relaxed accesses (Kang et al., "A
// Promising Semantics for Relaxed-Memory Concurrency", 2017, without promises): a word is the list
// of all values that were ever written to it. A thread may read any value that is not older than
// the newest one that it knows of. An acquire load of a value takes over what the releasing thread
// knew; a read-modify-write reads the newest value, and hands on the knowledge that came with it.
// Not in the model: loads that take effect later than a store behind them, which no dependency
// allows here, and writes to one word in another order than that of execution.
//
// Checked, for all executions of two threads that each pop two blocks, write to them and push them:
//   - a block that is popped was free, and its new owner sees what its last owner wrote to it;
//   - the link that a pop uses is the one that was stored when the block was pushed;
//   - in the end the list holds every block exactly once.
// usage: weak_stack [relaxed-push | relaxed-pop | no-count]     (planted bugs, which must be found)
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

namespace {

constexpr unsigned blocks = 3; // numbered from 1; 0 is no block
constexpr unsigned threads = 2;
constexpr unsigned rounds = 1;
constexpr std::uint8_t garbage = 255;

// Words: the head, then a link and the data of each block.
constexpr unsigned head = 0;
constexpr unsigned words = 1 + 2 * blocks;
constexpr unsigned link_of(unsigned block) { return 2 * block - 1; }
constexpr unsigned data_of(unsigned block) { return 2 * block; }

bool push_releases = true;
bool pop_acquires = true;
bool counts_changes = true;

/// For each word, the index of the newest value that is known.
using view = std::array<std::uint8_t, words>;

void join(view& to, const view& other) {
  for (unsigned i = 0; i < words; ++i) to[i] = to[i] < other[i] ? other[i] : to[i];
}

struct value {
  std::uint8_t top; // for the head; for other words the value itself
  std::uint8_t count;
  view known; // what a thread learns that acquires it
  [[nodiscard]] bool is(const value& other) const {
    return top == other.top && count == other.count;
  }
};

enum step : std::uint8_t {
  load_for_pop,
  load_link,
  swap_for_pop,
  use,
  load_for_push,
  store_link,
  swap_for_push,
  done
};

struct thread {
  view known{};
  value seen{};
  std::uint8_t next = 0;
  std::array<std::uint8_t, 2> mine{};
  std::uint8_t at = 0; // which of `mine` is popped or pushed
  std::uint8_t round = 0;
  step now = load_for_pop;
};

struct state {
  std::array<std::vector<value>, words> memory;
  std::array<thread, threads> all;
  std::array<bool, blocks + 1> owned{};
};

[[noreturn]] void violated(const char* what) {
  std::printf("violated: %s\n", what);
  std::exit(1);
}

void demand(bool holds, const char* what) {
  if (!holds) violated(what);
}

/// Effects: the thread reads value `index` of a word.
value read(thread& by, const state& in, unsigned word, std::size_t index, bool acquires) {
  const value got = in.memory[word][index];
  by.known[word] = static_cast<std::uint8_t>(index);
  if (acquires) join(by.known, got.known);
  return {got.top, got.count, {}};
}

/// Effects: the thread writes. `handed_on`: the knowledge that came with the value that a
/// read-modify-write replaces.
void write(thread& by, state& in, unsigned word, value written, bool releases,
           const view& handed_on) {
  by.known[word] = static_cast<std::uint8_t>(in.memory[word].size());
  written.known = handed_on;
  written.known[word] = by.known[word];
  if (releases) join(written.known, by.known);
  in.memory[word].push_back(written);
}

void plain_write(thread& by, state& in, unsigned word, std::uint8_t written) {
  write(by, in, word, {written, 0, {}}, false, view{});
}

std::uint8_t next_count(std::uint8_t count) {
  return counts_changes ? static_cast<std::uint8_t>(count + 1) : count;
}

/// After a pop or a push that is complete.
void go_on(thread& by, step again, step after) {
  by.seen = {}; // what is not used any more makes no difference between states
  by.next = 0;
  by.now = ++by.at < by.mine.size() ? again : after;
  by.at = by.at < by.mine.size() ? by.at : std::uint8_t{0};
}

void skip_what_is_no_block(thread& by) {
  while (by.now == load_for_push && by.mine[by.at] == 0) go_on(by, load_for_push, done);
  if (by.now != done) return;
  by.mine = {};
  if (++by.round < rounds) by.now = load_for_pop;
}

void check_popped(const thread& by, const state& in, unsigned block) {
  demand(!in.owned[block], "a block was popped that has an owner");
  demand(by.next == in.memory[link_of(block)].back().top, "a pop used a link that is not the last");
  demand(by.known[data_of(block)] + 1u == in.memory[data_of(block)].size(),
         "an owner does not see what the last owner wrote");
}

class explorer {
 public:
  void explore(const state& from) {
    if (!met_.insert(text_of(from)).second) return;
    bool all_done = true;
    for (unsigned me = 0; me < threads; ++me) {
      if (from.all[me].now == done) continue;
      all_done = false;
      advance(from, me);
    }
    if (all_done) check_end(from);
  }
  [[nodiscard]] std::size_t states() const { return met_.size(); }

 private:
  /// Explores each outcome that the next step of a thread may have.
  void advance(const state& from, unsigned me) {
    const thread& was = from.all[me];
    const unsigned block = was.mine[was.at];
    switch (was.now) {
      case load_for_pop:
        return each_value(from, me, head, pop_acquires, [](thread& by, value got) {
          by.seen = got;
          by.now = load_link;
          if (got.top == 0) go_on(by, load_for_pop, use); // found empty
        });
      case load_link:
        return each_value(from, me, link_of(was.seen.top), false, [](thread& by, value got) {
          by.next = got.top;
          by.now = swap_for_pop;
        });
      case swap_for_pop:
        return swap_pop(from, me);
      case use: {
        state to = from;
        thread& by = to.all[me];
        for (const std::uint8_t each : by.mine) {
          if (each == 0) continue;
          plain_write(by, to, data_of(each), 0);
          plain_write(by, to, link_of(each), garbage);
        }
        by.now = load_for_push;
        skip_what_is_no_block(by);
        return explore(to);
      }
      case load_for_push:
        return each_value(from, me, head, false, [](thread& by, value got) {
          by.seen = got;
          by.now = store_link;
        });
      case store_link: {
        state to = from;
        plain_write(to.all[me], to, link_of(block), was.seen.top);
        to.all[me].now = swap_for_push;
        return explore(to);
      }
      case swap_for_push:
        return swap_push(from, me);
      case done:
        return;
    }
  }

  template <class Then>
  void each_value(const state& from, unsigned me, unsigned word, bool acquires, const Then& then) {
    for (std::size_t i = from.all[me].known[word]; i < from.memory[word].size(); ++i) {
      state to = from;
      then(to.all[me], read(to.all[me], to, word, i, acquires));
      explore(to);
    }
  }

  /// A compare-and-swap that fails reads any other value that it may read.
  void fail_swap(const state& from, unsigned me, bool acquires, step retry) {
    for (std::size_t i = from.all[me].known[head]; i < from.memory[head].size(); ++i) {
      if (from.memory[head][i].is(from.all[me].seen)) continue;
      state to = from;
      thread& by = to.all[me];
      by.seen = read(by, to, head, i, acquires);
      by.now = retry;
      if (retry == load_link && by.seen.top == 0) go_on(by, load_for_pop, use);
      explore(to);
    }
  }

  void swap_pop(const state& from, unsigned me) {
    fail_swap(from, me, pop_acquires, load_link);
    if (!from.memory[head].back().is(from.all[me].seen)) return;
    state to = from;
    thread& by = to.all[me];
    const value old = to.memory[head].back();
    read(by, to, head, to.memory[head].size() - 1, pop_acquires);
    check_popped(by, to, old.top);
    write(by, to, head, {by.next, next_count(old.count), {}}, false, old.known);
    to.owned[old.top] = true;
    by.mine[by.at] = old.top;
    go_on(by, load_for_pop, use);
    explore(to);
  }

  void swap_push(const state& from, unsigned me) {
    fail_swap(from, me, false, store_link);
    if (!from.memory[head].back().is(from.all[me].seen)) return;
    state to = from;
    thread& by = to.all[me];
    const value old = to.memory[head].back();
    read(by, to, head, to.memory[head].size() - 1, false);
    const std::uint8_t block = by.mine[by.at];
    write(by, to, head, {block, next_count(old.count), {}}, push_releases, old.known);
    to.owned[block] = false;
    go_on(by, load_for_push, done);
    skip_what_is_no_block(by);
    explore(to);
  }

  static void check_end(const state& in) {
    std::array<bool, blocks + 1> met{};
    unsigned count = 0;
    for (unsigned at = in.memory[head].back().top; at != 0;
         at = in.memory[link_of(at)].back().top) {
      demand(at <= blocks && !met[at] && !in.owned[at], "the list in the end is no list");
      met[at] = true;
      ++count;
    }
    demand(count == blocks, "a block was lost");
  }

  static std::string text_of(const state& of) {
    std::string text;
    const auto add = [&text](const auto& plain) {
      text.append(reinterpret_cast<const char*>(&plain), sizeof plain);
    };
    for (const std::vector<value>& word : of.memory) {
      add(word.size());
      for (const value& each : word) add(each);
    }
    for (const thread& each : of.all) add(each);
    add(of.owned);
    return text;
  }

  std::unordered_set<std::string> met_;
};

} // namespace

int main(int argc, char** argv) {
  const std::string bug = argc > 1 ? argv[1] : "";
  push_releases = bug != "relaxed-push";
  pop_acquires = bug != "relaxed-pop";
  counts_changes = bug != "no-count";
  state start;
  start.memory[head].push_back({blocks, 0, {}});
  for (unsigned block = 1; block <= blocks; ++block) {
    start.memory[link_of(block)].push_back({static_cast<std::uint8_t>(block - 1), 0, {}});
    start.memory[data_of(block)].push_back({0, 0, {}});
  }
  explorer all;
  all.explore(start);
  std::printf("%zu states, no error\n", all.states());
}
