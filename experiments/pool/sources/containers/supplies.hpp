// Where containers get their nodes from: a supply makes the allocators of one kind of node.
//
// A supply has `explicit supply(const node_need&)`, a template `allocator<T>`, and `get<T>()`.
//
// optional: FOONATHAN = package foonathan_memory target foonathan_memory
//
// optional: BOOST_POOL = package Boost target Boost::headers
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

#include <heapwise/adapt/memory_resource.hpp>
#include <heapwise/adapt/node_pool.hpp>
#include <heapwise/adapt/std_allocator.hpp>
#include <heapwise/pool.hpp>
#include <heapwise/source/huge_blocks.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <heapwise/thread/unsynchronized.hpp>

#if defined(HEAPWISE_HAS_BOOST_POOL)
#include <boost/pool/pool_alloc.hpp>
#endif

#if defined(HEAPWISE_HAS_FOONATHAN)
#include <foonathan/memory/heap_allocator.hpp>
#include <foonathan/memory/memory_pool.hpp>
#include <foonathan/memory/segregator.hpp>
#include <foonathan/memory/std_allocator.hpp>
#endif

namespace containers {

/// What a container says of its nodes.
struct node_need {
  std::size_t bytes;       ///< of a node in this C++ library
  std::size_t bound_bytes; ///< what heapwise::node_size_bytes says, which holds for all libraries
  std::size_t count;       ///< that live at once, at most
};

/// std::allocator over the malloc of this process.
struct from_malloc {
  template <class T>
  using allocator = std::allocator<T>;

  explicit from_malloc(const node_need&) {}
  template <class T>
  allocator<T> get() {
    return {};
  }
};

/// heapwise::std_allocator over a node_pool, whose blocks are as large as the nodes.
template <class Policy>
class from_nodes {
  using pool = heapwise::node_pool<Policy>;

 public:
  template <class T>
  using allocator = heapwise::std_allocator<T, pool>;

  explicit from_nodes(const node_need& need) : pool_{{.block_count = need.count}} {}
  template <class T>
  allocator<T> get() {
    return allocator<T>{pool_};
  }

 private:
  pool pool_;
};

/// The same with blocks on huge pages, for which mimalloc asks by itself.
class from_huge_nodes {
  using pool = heapwise::node_pool<heapwise::unsynchronized>;

 public:
  template <class T>
  using allocator = heapwise::std_allocator<T, pool>;

  explicit from_huge_nodes(const node_need& need) : pool_{{.block_count = need.count}, pages_} {}
  template <class T>
  allocator<T> get() {
    return allocator<T>{pool_};
  }

 private:
  heapwise::huge_blocks pages_;
  pool pool_;
};

/// heapwise::std_allocator over a pool that is made before, with blocks for nodes of all libraries.
class from_bound {
  using pool = heapwise::pool<heapwise::unsynchronized>;

 public:
  template <class T>
  using allocator = heapwise::std_allocator<T, pool>;

  explicit from_bound(const node_need& need)
      : pool_{{.block_size = need.bound_bytes, .block_count = need.count}} {}
  template <class T>
  allocator<T> get() {
    return allocator<T>{pool_};
  }

 private:
  pool pool_;
};

/// The same pool behind std::pmr.
class from_pool_resource {
 public:
  template <class T>
  using allocator = std::pmr::polymorphic_allocator<T>;

  explicit from_pool_resource(const node_need& need)
      : pool_{{.block_size = need.bound_bytes, .block_count = need.count}}, resource_{pool_} {}
  template <class T>
  allocator<T> get() {
    return &resource_;
  }

 private:
  using pool = heapwise::pool<heapwise::unsynchronized>;

  pool pool_;
  heapwise::pool_resource<pool> resource_;
};

/// The pools of the standard library, with their default options.
class from_pmr {
 public:
  template <class T>
  using allocator = std::pmr::polymorphic_allocator<T>;

  explicit from_pmr(const node_need&) {}
  template <class T>
  allocator<T> get() {
    return &resource_;
  }

 private:
  std::pmr::unsynchronized_pool_resource resource_;
};

#if defined(HEAPWISE_HAS_BOOST_POOL)
/// boost::fast_pool_allocator without a mutex. Its pools are of the process and never give memory
/// back by themselves, so the supply asks them to when it ends, as all others do.
class from_boost {
  static std::vector<void (*)()>& purges() {
    static std::vector<void (*)()> all;
    return all;
  }

 public:
  template <class T>
  class allocator : public boost::fast_pool_allocator<T, boost::default_user_allocator_new_delete,
                                                      boost::details::pool::null_mutex> {
    using base = boost::fast_pool_allocator<T, boost::default_user_allocator_new_delete,
                                            boost::details::pool::null_mutex>;

   public:
    template <class Other>
    struct rebind {
      using other = allocator<Other>;
    };

    allocator() = default;
    template <class Other>
    allocator(const allocator<Other>&) noexcept {}

    static T* allocate(std::size_t count) {
      static_cast<void>(&known_); // makes the purge known before main
      return count == 1 ? base::allocate() : base::allocate(count);
    }
    static void deallocate(T* memory, std::size_t count) {
      count == 1 ? base::deallocate(memory) : base::deallocate(memory, count);
    }

   private:
    static void purge() {
      boost::singleton_pool<boost::fast_pool_allocator_tag, sizeof(T),
                            boost::default_user_allocator_new_delete,
                            boost::details::pool::null_mutex, 32, 0>::purge_memory();
    }
    static inline const bool known_ = (purges().push_back(&purge), true);
  };

  explicit from_boost(const node_need&) {}
  from_boost(const from_boost&) = delete;
  from_boost& operator=(const from_boost&) = delete;
  ~from_boost() {
    for (void (*const purge)() : purges()) purge();
  }
  template <class T>
  allocator<T> get() {
    return {};
  }
};
#endif

#if defined(HEAPWISE_HAS_FOONATHAN)
/// foonathan's std_allocator over its memory_pool, and over malloc for the arrays of a hash table.
class from_foonathan {
  using pool = foonathan::memory::memory_pool<>;
  using memory =
      foonathan::memory::binary_segregator<foonathan::memory::threshold_segregatable<pool>,
                                           foonathan::memory::heap_allocator>;

 public:
  template <class T>
  using allocator = foonathan::memory::std_allocator<T, memory>;

  explicit from_foonathan(const node_need& need)
      : memory_{foonathan::memory::threshold(
            need.bytes, pool{need.bytes, pool::min_block_size(need.bytes, need.count)})} {}
  template <class T>
  allocator<T> get() {
    return allocator<T>{memory_};
  }

 private:
  memory memory_;
};
#endif

} // namespace containers
