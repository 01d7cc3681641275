// Every single call of the tapes timed, each thread with a source of its own.
#pragma once

#include <cstddef>

#include "sources/thread_tapes.hpp"
#include "workload/timed_calls.hpp"

namespace heaps {

class timed_calls : public heapwise::bench::timed_calls {
 public:
  using heapwise::bench::timed_calls::timed_calls;

  /// Plays every tape `rounds` times, each on a thread of its own.
  template <class Source>
  void measure(heapwise::bench::sample& the_sample, const thread_tapes& tapes, std::size_t rounds) {
    heapwise::bench::timed_calls::measure(
        the_sample, rounds * tapes.operations(),
        [&](heapwise::bench::team_member& member, heapwise::bench::call_durations& into) {
          const auto index = static_cast<std::size_t>(member.index());
          Source source;
          member.start();
          for (std::size_t round = 0; round < rounds; ++round) {
            heapwise::bench::replay_timed(source, tapes.of(index), tapes.slots(index), into);
          }
          member.stop();
        });
  }
};

} // namespace heaps
