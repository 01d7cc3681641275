// One shard of the lock-free pool under a weak memory model: what treiber.pml checks for memory
// that all threads see alike, here for memory as C++ promises it (weak_memory.hpp). The atomic
// orders are arguments: tests/model/run takes them from the sources
// (include/heapwise/thread/lock_free.hpp, include/heapwise/detail/chunks.hpp, src/pool/chunks.cpp).
//
// Checked, for all executions of two threads that each pop two blocks, write to them and push them:
//   - a block that is popped was free, and its new owner sees what its last owner wrote to it;
//   - the link that a pop uses is the one that was stored when the block was pushed;
//   - a thread that computes the address of a block finds the chunk that the block lies in, and
//     sees its record whole;
//   - in the end every block is in the list exactly once, or was never cut.
// Two starts: all blocks are in the list; or no block was cut yet, and the third lies in a chunk
// that a thread has to obtain.
// usage: weak_stack NAME=ORDER... [no-count]   (names: see `order_of`; no-count is a planted bug)
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_set>

#include "weak_shard.hpp"

namespace {

using namespace weak;
using value = word_value;

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
    switch (was.now) {
      case load_for_pop:
        return each_value(from, me, head, code.head_load, [](thread& by, state&, value got) {
          by.seen = got;
          by.now = got.top == 0 ? load_carved : locate_top;
        });
      case locate_top:
        return locate(from, me, was.seen.top, [](thread& by, state&) { by.now = load_link; });
      case load_link:
        return each_value(from, me, link_of(was.seen.top), plain,
                          [](thread& by, state&, value got) {
                            by.next = got.top;
                            by.now = swap_for_pop;
                          });
      case swap_for_pop:
        return swap_pop(from, me);
      case load_carved:
        return each_value(from, me, carved, code.carved_load, [](thread& by, state&, value got) {
          by.next = got.top;
          by.now = load_newest;
        });
      case load_newest:
        return each_value(from, me, newest, code.newest_load, [](thread& by, state&, value got) {
          by.chunk = got.top;
          const std::uint8_t end = end_of(got.top);
          by.now = by.next < end ? swap_carved : grow;
          if (by.now == grow && end == blocks) go_on(by, load_for_pop, use); // exhausted
        });
      case grow:
        return add_chunk(from, me);
      case swap_carved:
        return cut(from, me);
      case locate_cut:
        return locate(from, me, was.next + 1U, [](thread& by, state& in) {
          take(by, in, static_cast<std::uint8_t>(by.next + 1));
        });
      case use:
        return use_blocks(from, me);
      case load_for_push:
        return each_value(from, me, head, code.push_load, [](thread& by, state&, value got) {
          by.seen = got;
          by.now = store_link;
        });
      case store_link: {
        state to = from;
        thread& by = to.all[me];
        to.words.write(by.known, link_of(by.mine[by.at]), number(by.seen.top), plain);
        by.now = swap_for_push;
        return explore(to);
      }
      case swap_for_push:
        return swap_push(from, me);
      case done:
        return;
    }
  }

  template <class Then>
  void each_value(const state& from, unsigned me, unsigned word, order how, const Then& then) {
    for (std::size_t i = from.all[me].known[word]; i < from.words.history(word).size(); ++i) {
      state to = from;
      thread& by = to.all[me];
      then(by, to, to.words.read(by.known, word, i, how));
      explore(to);
    }
  }

  template <class Then>
  void locate(const state& from, unsigned me, unsigned block, const Then& then) {
    each_value(from, me, newest, code.newest_load, [&](thread& by, state& in, value got) {
      by.chunk = got.top;
      check_located(by, in, block);
      by.chunk = 0;
      then(by, in);
    });
  }

  /// A compare-and-swap that fails reads any other value that it may read.
  template <class Then>
  void fail_swap(const state& from, unsigned me, unsigned word, value expected, order how,
                 const Then& then) {
    each_value(from, me, word, how, [&](thread& by, state&, value got) {
      if (!got.is(expected)) return then(by, got);
      by = from.all[me]; // no outcome: the state was met before
    });
  }

  void swap_pop(const state& from, unsigned me) {
    const thread& was = from.all[me];
    fail_swap(from, me, head, was.seen, code.head_fail, [](thread& by, value got) {
      by.seen = got;
      by.next = 0;
      by.now = got.top == 0 ? load_carved : locate_top;
    });
    if (!from.words.newest(head).is(was.seen)) return;
    state to = from;
    thread& by = to.all[me];
    const value old = to.words.newest(head);
    demand(by.next == to.words.newest(link_of(old.top)).top,
           "a pop used a link that is not the last");
    to.words.exchange(by.known, head, next_head(by.next, old), code.head_swap);
    take(by, to, old.top);
    explore(to);
  }

  void swap_push(const state& from, unsigned me) {
    const thread& was = from.all[me];
    fail_swap(from, me, head, was.seen, code.push_fail, [](thread& by, value got) {
      by.seen = got;
      by.now = store_link;
    });
    if (!from.words.newest(head).is(was.seen)) return;
    state to = from;
    thread& by = to.all[me];
    const std::uint8_t block = by.mine[by.at];
    to.words.exchange(by.known, head, next_head(block, to.words.newest(head)), code.push_swap);
    to.owned[block] = false;
    go_on(by, load_for_push, done);
    skip_what_is_no_block(by);
    explore(to);
  }

  void cut(const state& from, unsigned me) {
    const thread& was = from.all[me];
    fail_swap(from, me, carved, number(was.next), code.carved_load, [](thread& by, value got) {
      by.next = got.top;
      by.now = load_newest;
    });
    if (from.words.newest(carved).top != was.next) return;
    state to = from;
    thread& by = to.all[me];
    const auto cut = static_cast<std::uint8_t>(by.next + 1);
    to.words.exchange(by.known, carved, number(cut), code.carved_swap);
    by.now = locate_cut;
    explore(to);
  }

  /// chunks::grow, with its lock held: one step.
  void add_chunk(const state& from, unsigned me) {
    state to = from;
    thread& by = to.all[me];
    to.words.exchange(by.known, turn, number(1), code.turn_lock);
    // The lock's order decides what the thread may read here; each value is an outcome.
    for (std::size_t i = by.known[newest]; i < to.words.history(newest).size(); ++i) {
      state end = to;
      thread& grown = end.all[me];
      const value got = end.words.read(grown.known, newest, i, code.newest_load);
      if (got.top == grown.chunk) {
        demand(end.words.newest(newest).top == 1, "two threads added a chunk");
        end.words.write(grown.known, record, number(1), plain);
        end.words.write(grown.known, newest, number(2), code.newest_store);
      }
      end.words.write(grown.known, turn, number(0), code.turn_unlock);
      grown.chunk = 0;
      grown.now = load_carved;
      explore(end);
    }
  }

  void use_blocks(const state& from, unsigned me) {
    state to = from;
    thread& by = to.all[me];
    for (const std::uint8_t each : by.mine) {
      if (each == 0) continue;
      to.words.write(by.known, data_of(each), number(0), plain);
      to.words.write(by.known, link_of(each), number(garbage), plain);
    }
    by.now = load_for_push;
    skip_what_is_no_block(by);
    explore(to);
  }

  static void check_end(const state& in) {
    std::array<bool, blocks + 1> met{};
    unsigned count = 0;
    for (unsigned at = in.words.newest(head).top; at != 0; at = in.words.newest(link_of(at)).top) {
      demand(at <= blocks && !met[at] && !in.owned[at], "the list in the end is not a list");
      met[at] = true;
      ++count;
    }
    demand(count == in.words.newest(carved).top, "a block was lost");
  }

  static std::string text_of(const state& in) {
    std::string text;
    in.words.describe(text);
    text.append(reinterpret_cast<const char*>(in.all.data()), sizeof in.all);
    text.append(reinterpret_cast<const char*>(in.owned.data()), sizeof in.owned);
    return text;
  }

  std::unordered_set<std::string> met_;
};

std::map<std::string, order> orders;

order order_of(const char* name) {
  const auto entry = orders.find(name);
  if (entry != orders.end()) return entry->second;
  std::fprintf(stderr, "no order for %s\n", name);
  std::exit(2);
}

/// `cut`: how many blocks were cut and are in the list.
std::size_t states_from(std::uint8_t cut) {
  state start;
  start.words.start(head, cut);
  start.words.start(newest, cut == blocks ? 2 : 1);
  start.words.start(record, cut == blocks ? 1 : 0);
  start.words.start(carved, cut);
  start.words.start(turn, 0);
  for (unsigned block = 1; block <= blocks; ++block) {
    const bool listed = block <= cut;
    start.words.start(link_of(block), listed ? static_cast<std::uint8_t>(block - 1) : garbage);
    start.words.start(data_of(block), 0);
  }
  explorer all;
  all.explore(start);
  return all.states();
}

} // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    if (text == "no-count") {
      counts_changes = false;
    } else if (equals != std::string::npos) {
      orders[text.substr(0, equals)] = order::named(text.substr(equals + 1));
    }
  }
  code = {order_of("head_load"),   order_of("head_swap"),    order_of("head_fail"),
          order_of("push_load"),   order_of("push_swap"),    order_of("push_fail"),
          order_of("newest_load"), order_of("newest_store"), order_of("carved_load"),
          order_of("carved_swap"), order_of("turn_lock"),    order_of("turn_unlock")};
  const std::size_t listed = states_from(blocks);
  const std::size_t growing = states_from(0);
  std::printf("%zu states, no error\n", listed + growing);
}
