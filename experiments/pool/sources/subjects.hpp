// The subjects that the pool experiments share: our policies, malloc, and what a user would take
// instead. `Measure` is a class template over the source, with a static `run(cell&)`.
#pragma once

#include <type_traits>
#include <vector>

#include "harness/experiment.hpp"
#include "sources/bare_list.hpp"
#include "sources/boost.hpp"
#include "sources/c_api.hpp"
#include "sources/foonathan.hpp"
#include "sources/locked.hpp"
#include "sources/ours.hpp"
#include "sources/pmr.hpp"
#include "sources/system_malloc.hpp"

namespace pools {

using heapwise::bench::subject;
using heapwise::bench::subject_kind;

inline constexpr const char* get_boost = "not in this build: install libboost-dev and build again";
inline constexpr const char* get_foonathan =
    "not in this build: install libfoonathan-memory-dev and build again";

template <template <class> class Measure>
subject malloc_subject() {
  return {"malloc", "malloc", Measure<system_malloc>::run, "", subject_kind::malloc};
}

/// Subjects for one thread.
template <template <class> class Measure>
std::vector<subject> for_one_thread() {
  std::vector<subject> subjects{
      {"unsynchronized", "heapwise::pool<unsynchronized>",
       Measure<ours<heapwise::unsynchronized>>::run},
      {"unsynchronized_trusting", "heapwise::pool<unsynchronized, trusting>",
       Measure<ours<heapwise::unsynchronized, heapwise::trusting>>::run},
      {"mutex", "heapwise::pool<locked>", Measure<ours<heapwise::locked>>::run},
      {"lock_free", "heapwise::pool<lock_free>", Measure<ours<heapwise::lock_free>>::run},
      {"lock_free_1", "heapwise::pool<lock_free_shards<1>>",
       Measure<ours<heapwise::lock_free_shards<1>>>::run},
      {"thread_cached", "heapwise::pool<thread_cached>",
       Measure<ours<heapwise::thread_cached>>::run},
      {"thread_cached_handle", "heapwise::pool<thread_cached>::local()",
       Measure<ours_by_handle<heapwise::thread_cached>>::run},
      {"c_api", "heapwise_pool_allocate, unsynchronized",
       Measure<c_api<HEAPWISE_UNSYNCHRONIZED>>::run},
      {"c_api_locked", "heapwise_pool_allocate, locked", Measure<c_api<HEAPWISE_LOCKED>>::run},
      {"c_api_lock_free", "heapwise_pool_allocate, lock_free",
       Measure<c_api<HEAPWISE_LOCK_FREE>>::run},
      malloc_subject<Measure>(),
      {"bare_list", "a list of free blocks, nothing else", Measure<bare_list>::run},
      {"pmr_unsynchronized", "std::pmr::unsynchronized_pool_resource",
       Measure<pmr_unsynchronized>::run},
      {"pmr_synchronized", "std::pmr::synchronized_pool_resource", Measure<pmr_synchronized>::run},
  };
#if defined(HEAPWISE_HAS_BOOST_POOL)
  subjects.push_back({"boost_pool", "boost::pool", Measure<boost_blocks>::run});
#else
  subjects.push_back({"boost_pool", "boost::pool", nullptr, get_boost});
#endif
#if defined(HEAPWISE_HAS_FOONATHAN)
  subjects.push_back({"foonathan_pool", "foonathan memory_pool", Measure<foonathan_blocks>::run});
#else
  subjects.push_back({"foonathan_pool", "foonathan memory_pool", nullptr, get_foonathan});
#endif
  return subjects;
}

/// Subjects that several threads may use at once.
template <template <class> class Measure, template <class> class MeasureLocal>
std::vector<subject> for_many_threads() {
  std::vector<subject> subjects{
      {"mutex", "heapwise::pool<locked>", Measure<ours<heapwise::locked>>::run},
      {"lock_free", "heapwise::pool<lock_free>", Measure<ours<heapwise::lock_free>>::run},
      {"lock_free_1", "heapwise::pool<lock_free_shards<1>>",
       Measure<ours<heapwise::lock_free_shards<1>>>::run},
      {"thread_cached", "heapwise::pool<thread_cached>",
       Measure<ours<heapwise::thread_cached>>::run},
      {"thread_cached_handle", "heapwise::pool<thread_cached>::local()",
       MeasureLocal<ours<heapwise::thread_cached>>::run},
      malloc_subject<Measure>(),
      {"pmr_synchronized", "std::pmr::synchronized_pool_resource", Measure<pmr_synchronized>::run},
  };
#if defined(HEAPWISE_HAS_BOOST_POOL)
  subjects.push_back(
      {"boost_pool", "boost::pool + std::mutex", Measure<locked<boost_blocks>>::run});
#else
  subjects.push_back({"boost_pool", "boost::pool + std::mutex", nullptr, get_boost});
#endif
#if defined(HEAPWISE_HAS_FOONATHAN)
  subjects.push_back(
      {"foonathan_pool", "foonathan memory_pool + std::mutex", Measure<foonathan_locked>::run});
#else
  subjects.push_back(
      {"foonathan_pool", "foonathan memory_pool + std::mutex", nullptr, get_foonathan});
#endif
  return subjects;
}

/// The same and, where there is but one thread, the pool for one thread.
template <template <class> class Measure, template <class> class MeasureLocal>
std::vector<subject> for_one_or_many_threads() {
  std::vector<subject> subjects = for_many_threads<Measure, MeasureLocal>();
  subjects.insert(subjects.begin(), {"unsynchronized", "heapwise::pool<unsynchronized>, one thread",
                                     Measure<ours<heapwise::unsynchronized>>::run});
  return subjects;
}

/// Ends the cell if the source is for one thread and there are more.
template <class Source>
void refuse_more_threads(const heapwise::bench::cell& the_cell) {
  if (std::is_same_v<Source, ours<heapwise::unsynchronized>> && the_cell.integer("threads") > 1) {
    the_cell.refuse("threads", "this pool is for one thread");
  }
}

/// True for malloc's own source: only its loops are counted as calls of malloc.
template <class Source>
inline constexpr bool calls_malloc = std::is_same_v<Source, system_malloc>;

/// True for what cannot be told in advance how many blocks there will be.
template <class Source>
inline constexpr bool grows_always =
    calls_malloc<Source> || std::is_same_v<Source, pmr_unsynchronized> ||
    std::is_same_v<Source, pmr_synchronized>;

} // namespace pools
