// Messages one way, from the other side to this one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/experiment.hpp"
#include "harness/processes/two_sides.hpp"
#include "harness/rate.hpp"

namespace ipc {

using namespace heapwise::bench;

inline const parameter between{"between",
                               "the two sides: threads or processes",
                               {"threads", "processes"},
                               {"threads", "processes"}};

inline other_side::kind kind_of(const cell& the_cell) {
  return the_cell.text("between") == "threads" ? other_side::kind::thread
                                               : other_side::kind::process;
}

/// What the i-th message says: nothing that a copy of the one before would say, too.
constexpr std::uint64_t text_of(std::uint64_t i) noexcept { return i * 0x9e3779b97f4a7c15U + 1; }

constexpr std::uint64_t sum_of_texts(std::uint64_t count) noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += text_of(i) ^ i; // the order counts
  return sum;
}

/// In each repeat the other side does `send(i)` for all messages and this side takes as many with
/// `receive() -> text`, from the first that is sent to the last that is taken. `send` returns false
/// if it could not.
template <class Send, class Receive>
void measure_messages(cell& the_cell, Send send, Receive receive) {
  const std::uint64_t count = the_cell.size("messages");
  const std::uint64_t expected = sum_of_texts(count);
  const cpu_list allowed = cpu_list::of_this_thread();
  the_cell.each_repeat([&](sample& the_sample) {
    other_side sender{kind_of(the_cell), allowed, [count, send] {
                        for (std::uint64_t i = 0; i < count; ++i) {
                          if (!send(i)) return false;
                        }
                        return true;
                      }};
    std::uint64_t sum = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(count, [&] {
      sender.let_go();
      for (std::uint64_t i = 0; i < count; ++i) sum += receive() ^ i;
    });
    const bool sent = sender.end();
    the_sample.set(rate_name, millions_per_second(count, elapsed_ns));
    the_cell.check("work", sent && sum == expected, "sent {}, sum {} of {}", sent ? "all" : "less",
                   sum, expected);
    the_cell.check("placement", sender.placed(),
                   "each side on a processor of its own, if there are");
  });
}

} // namespace ipc
