// Queues from libraries, with push and pop as in rings.hpp. A library that was not found when the
// build was configured makes its subjects unavailable. None of them allocates to take a message:
// they are bounded, or asked not to grow.
//
// optional: READERWRITERQUEUE = header readerwriterqueue/readerwriterqueue.h
// optional: BOOST_LOCKFREE = package Boost target Boost::headers
//
// Fences, a read before it is known whose turn it is, a library that is not instrumented: what the
// thread sanitizer calls races.
// optional: TBB = package TBB target TBB::tbb without thread
// optional: CONCURRENTQUEUE = header concurrentqueue/concurrentqueue.h without thread
// optional: BOOST_QUEUE = package Boost target Boost::headers without thread
#pragma once

#include <cstddef>

#include "harness/experiment.hpp"

#if defined(HEAPWISE_HAS_CONCURRENTQUEUE)
#include <concurrentqueue/concurrentqueue.h>
#endif
#if defined(HEAPWISE_HAS_READERWRITERQUEUE)
#include <readerwriterqueue/readerwriterqueue.h>
#endif
#if defined(HEAPWISE_HAS_BOOST_LOCKFREE)
#include <boost/lockfree/spsc_queue.hpp>
#endif
#if defined(HEAPWISE_HAS_BOOST_QUEUE)
#include <boost/lockfree/queue.hpp>
#endif
#if defined(HEAPWISE_HAS_TBB)
#include <oneapi/tbb/concurrent_queue.h>
#endif

namespace concurrency {

using heapwise::bench::cell;
using heapwise::bench::subject;

inline constexpr const char* concurrent_queue_missing =
    "not in this build: it takes libconcurrentqueue-dev and no thread sanitizer, which does not "
    "know the fences that the queue relies on";
inline constexpr const char* boost_queue_missing =
    "not in this build: it takes libboost-dev and no thread sanitizer, which reports the queue's "
    "reading of a message before it knows that it is its own";

inline constexpr const char* tbb_queue_missing =
    "not in this build: it takes libtbb-dev and no thread sanitizer, which does not see what the "
    "library does inside";

/// For queues that take and give one message at a time.
template <class Pointer, class One>
std::size_t one_by_one(Pointer first, std::size_t count, One&& one) {
  std::size_t done = 0;
  while (done < count && one(first[done])) ++done;
  return done;
}

#if defined(HEAPWISE_HAS_READERWRITERQUEUE)
template <class Message, std::size_t Capacity>
class readerwriter_queue {
 public:
  std::size_t push(const Message* first, std::size_t count) {
    return one_by_one(first, count, [this](const auto& each) { return queue_.try_enqueue(each); });
  }
  std::size_t pop(Message* first, std::size_t count) {
    return one_by_one(first, count, [this](auto& each) { return queue_.try_dequeue(each); });
  }

 private:
  moodycamel::ReaderWriterQueue<Message> queue_{Capacity};
};
#endif

#if defined(HEAPWISE_HAS_CONCURRENTQUEUE)
/// One producer and one consumer, each with its token, in bulk: as the library advises.
template <class Message, std::size_t Capacity>
class concurrent_queue_with_tokens {
 public:
  std::size_t push(const Message* first, std::size_t count) {
    return queue_.try_enqueue_bulk(producer_, first, count) ? count : 0;
  }
  std::size_t pop(Message* first, std::size_t count) {
    return queue_.try_dequeue_bulk(consumer_, first, count);
  }

 private:
  moodycamel::ConcurrentQueue<Message> queue_{Capacity, 1, 0};
  moodycamel::ProducerToken producer_{queue_};
  moodycamel::ConsumerToken consumer_{queue_};
};

/// Any threads, as one writes it first: without tokens.
template <class Message, std::size_t Capacity>
class concurrent_queue {
 public:
  std::size_t push(const Message* first, std::size_t count) {
    return one_by_one(first, count, [this](const auto& each) { return queue_.try_enqueue(each); });
  }
  std::size_t pop(Message* first, std::size_t count) {
    return one_by_one(first, count, [this](auto& each) { return queue_.try_dequeue(each); });
  }

 private:
  static constexpr std::size_t most_producers = 16;
  moodycamel::ConcurrentQueue<Message> queue_{Capacity, 0, most_producers};
};
#endif

#if defined(HEAPWISE_HAS_BOOST_LOCKFREE)
template <class Message, std::size_t Capacity>
class boost_spsc_queue {
 public:
  std::size_t push(const Message* first, std::size_t count) { return queue_.push(first, count); }
  std::size_t pop(Message* first, std::size_t count) { return queue_.pop(first, count); }

 private:
  boost::lockfree::spsc_queue<Message, boost::lockfree::capacity<Capacity>> queue_;
};
#endif

#if defined(HEAPWISE_HAS_BOOST_QUEUE)
template <class Message, std::size_t Capacity>
class boost_queue {
 public:
  std::size_t push(const Message* first, std::size_t count) {
    return one_by_one(first, count, [this](const auto& each) { return queue_.push(each); });
  }
  std::size_t pop(Message* first, std::size_t count) {
    return one_by_one(first, count, [this](auto& each) { return queue_.pop(each); });
  }

 private:
  boost::lockfree::queue<Message, boost::lockfree::capacity<Capacity>> queue_;
};
#endif

#if defined(HEAPWISE_HAS_TBB)
template <class Message, std::size_t Capacity>
class tbb_bounded_queue {
 public:
  tbb_bounded_queue() { queue_.set_capacity(Capacity); }

  std::size_t push(const Message* first, std::size_t count) {
    return one_by_one(first, count, [this](const auto& each) { return queue_.try_push(each); });
  }
  std::size_t pop(Message* first, std::size_t count) {
    return one_by_one(first, count, [this](auto& each) { return queue_.try_pop(each); });
  }

 private:
  tbb::concurrent_bounded_queue<Message> queue_;
};
#endif

} // namespace concurrency
