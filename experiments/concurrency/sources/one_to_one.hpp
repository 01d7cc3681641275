// The queues between one producer and one consumer, ours and those of libraries, as subjects.
#pragma once

#include <vector>

#include "harness/experiment.hpp"
#include "sources/library_queues.hpp"
#include "sources/rings.hpp"

namespace concurrency {

/// Returns: each of them, measured by Measure::run<Queue>; a missing library says how to get it.
template <class Measure>
std::vector<subject> one_to_one_queues() {
  std::vector<subject> all{{"mutex", "ring behind a std::mutex", Measure::template run<mutex_ring>},
                           {"spsc", "ring without a lock", Measure::template run<spsc_ring>}};
#if defined(HEAPWISE_HAS_READERWRITERQUEUE)
  all.push_back({"readerwriterqueue", "moodycamel::ReaderWriterQueue, one by one",
                 Measure::template run<readerwriter_queue>});
#else
  all.push_back({"readerwriterqueue", "moodycamel::ReaderWriterQueue", nullptr,
                 "not here: install libreaderwriterqueue-dev and build again"});
#endif
#if defined(HEAPWISE_HAS_CONCURRENTQUEUE)
  all.push_back({"concurrentqueue", "moodycamel::ConcurrentQueue, tokens, in bulk",
                 Measure::template run<concurrent_queue_with_tokens>});
#else
  all.push_back(
      {"concurrentqueue", "moodycamel::ConcurrentQueue", nullptr, concurrent_queue_missing});
#endif
#if defined(HEAPWISE_HAS_BOOST_LOCKFREE)
  all.push_back({"boost_spsc", "boost::lockfree::spsc_queue, in bulk",
                 Measure::template run<boost_spsc_queue>});
#else
  all.push_back({"boost_spsc", "boost::lockfree::spsc_queue", nullptr,
                 "not here: install libboost-dev and build again"});
#endif
  return all;
}

} // namespace concurrency
