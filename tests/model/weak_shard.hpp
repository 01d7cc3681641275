// What the model of the lock-free pool consists of: its words, its threads, and what must hold.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "weak_memory.hpp"

namespace weak {

constexpr unsigned blocks = 3; // numbered from 1; 0 is not a block
constexpr unsigned threads = 2;
constexpr std::uint8_t garbage = 255;
/// The first chunk has the blocks 1 and 2, the second one the third.
constexpr std::uint8_t chunk_of(unsigned block) { return block == blocks ? 2 : 1; }
constexpr std::uint8_t end_of(unsigned chunk) { return chunk == 1 ? blocks - 1 : blocks; }

// Words: the head, the newest chunk, the record of the second chunk, how many blocks were cut, the
// lock of growth; then a link and the data of each block.
enum word : unsigned { head, newest, record, carved, turn, first_of_blocks };
constexpr unsigned words = first_of_blocks + 2 * blocks;
constexpr unsigned link_of(unsigned block) { return first_of_blocks + 2 * (block - 1); }
constexpr unsigned data_of(unsigned block) { return link_of(block) + 1; }

using words_of_shard = memory<words>;
using word_value = words_of_shard::value;

inline bool counts_changes = true;
/// The atomic orders of the code.
struct code_orders {
  order head_load, head_swap, head_fail; // of a pop
  order push_load, push_swap, push_fail; // of a push
  order newest_load, newest_store;       // of the chunks
  order carved_load, carved_swap, turn_lock, turn_unlock;
};
inline code_orders code;
constexpr order plain{};

enum step : std::uint8_t {
  load_for_pop,
  locate_top,
  load_link,
  swap_for_pop,
  load_carved,
  load_newest,
  grow,
  swap_carved,
  locate_cut,
  use,
  load_for_push,
  store_link,
  swap_for_push,
  done
};

struct thread {
  words_of_shard::view known{};
  word_value seen{};
  std::uint8_t next = 0;  // the link that was read, or how many blocks were cut
  std::uint8_t chunk = 0; // the newest that was read
  std::array<std::uint8_t, 2> mine{};
  std::uint8_t at = 0; // which of `mine` is popped or pushed
  step now = load_for_pop;
};

struct state {
  words_of_shard words;
  std::array<thread, threads> all;
  std::array<bool, blocks + 1> owned{};
};

inline void demand(bool holds, const char* what) {
  if (holds) return;
  std::printf("violated: %s\n", what);
  std::exit(1);
}

inline word_value number(std::uint8_t content) { return {content, 0, {}}; }

inline word_value next_head(std::uint8_t top, const word_value& before) {
  const int change = counts_changes ? 1 : 0;
  return {top, static_cast<std::uint8_t>(before.count + change), {}};
}

/// After a pop or a push that is complete.
inline void go_on(thread& by, step again, step after) {
  by.seen = {}; // what is not used any more makes no difference between states
  by.next = 0;
  by.chunk = 0;
  by.now = ++by.at < by.mine.size() ? again : after;
  by.at = by.at < by.mine.size() ? by.at : std::uint8_t{0};
}

inline void skip_what_is_no_block(thread& by) {
  while (by.now == load_for_push && by.mine[by.at] == 0) go_on(by, load_for_push, done);
  if (by.now == done) by.mine = {};
}

inline void take(thread& by, state& in, std::uint8_t block) {
  demand(!in.owned[block], "a block was popped that has an owner");
  demand(in.words.is_newest_known(by.known, data_of(block)),
         "an owner does not see what the last owner wrote");
  in.owned[block] = true;
  by.mine[by.at] = block;
  go_on(by, load_for_pop, use);
}

/// What address_of relies on, after the newest chunk was read.
inline void check_located(const thread& by, const state& in, unsigned block) {
  demand(by.chunk >= chunk_of(block), "a thread does not find the chunk of a block");
  demand(chunk_of(block) == 1 || in.words.is_newest_known(by.known, record),
         "a thread does not see the record of a chunk");
}

} // namespace weak
