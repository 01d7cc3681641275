#include "player/future.hpp"

#include <algorithm>

namespace heapwise::bench {

future read_future(trace_reader& trace) {
  future result;
  std::unordered_map<std::uint64_t, std::uint32_t> makers;
  std::unordered_set<std::uint64_t> living;
  trace.each_live([&](const traced_event& block) {
    makers[block.block] = block.thread;
    living.insert(block.block);
  });
  trace.each([&](const traced_event& next) {
    if (makes_block(next.kind)) {
      makers[next.block] = next.thread;
    } else if (ends_block(next.kind)) {
      const auto maker = makers.find(next.block);
      if (maker == makers.end()) throw trace_error{"it ends a block twice"};
      if (maker->second != next.thread) result.handed_over.insert(next.block);
      if (living.contains(next.block)) result.ends[next.block] = next.kind;
      if (next.size != 0) {
        result.pages[next.block] =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(next.size, UINT32_MAX - 1));
      }
      makers.erase(maker);
    }
  });
  return result;
}

} // namespace heapwise::bench
